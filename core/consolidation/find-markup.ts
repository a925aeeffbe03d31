import { QUOTED, withoutCode } from './quotes.ts';

/** Elements that load, run or send something, hide text, or pose as a message of a conversation. */
const ACTIVE_ELEMENT =
  /<\/?(?:script|iframe|frame|object|embed|applet|style|link|meta|base|form|svg|math|img|image|audio|video|source|track|input|textarea|button|select|template|noscript|portal|marquee|dialog|slot|system|assistant|developer|human|user|instructions?|system-reminder|system_prompt|user_instructions|environment_context|tool_call|tool_result|function_calls?|invoke|antml:[a-z_]+|oai-mem-citation|citation_entries|rollout_ids|memory|prompt)(?=[\s/>]|$)/i;
const ACTIVE_ATTRIBUTE =
  /<[a-z][a-z0-9-]{0,30}\s[^<>]{0,300}(?:\bon[a-z]{3,20}\s{0,4}=|\bstyle\s{0,4}=|\bhidden\b|\bsrc\s{0,4}=|\bhref\s{0,4}=|\baria-hidden)/i;
const COMMENT = /<!--|<!\[CDATA|<\?[a-z]|<!doctype/i;
const CHAT_TOKEN = /<\|[a-z_]{2,20}\|>|\[\/?INST\]|<<\/?SYS>>|<\/?s>|<(?:start|end)_of_turn>|<｜[^｜<>]{1,30}｜>/i;
const REMOTE_IMAGE = /!\[[^\]]{0,300}\]\s{0,4}(?:\(|\[)/;
const SCRIPT_LINK =
  /\]\(\s{0,4}<?\s{0,4}(?:javascript|vbscript|data|file|blob)\s{0,4}:|\b(?:javascript|vbscript):[^\s]/i;
const HIDDEN_DEFINITION = /^\s{0,3}\[[^\]]{1,200}\]:\s/m;
const LINK_TITLE = /\]\([^()\s]{1,300}\s{1,4}["'(]/;
const FRAME = /={3,}[ \t]{0,4}(?:MEMORY_SUMMARY|PENDING_NOTES)[ \t]{1,4}(?:BEGINS|ENDS)/i;
const ENTITY = /&(?:#x?[0-9a-f]{1,6}|lt|gt|zwnj|zwj|shy|lrm|rlm|ZeroWidthSpace|NoBreak|InvisibleTimes);/i;
const DECEPTIVE_LINK =
  /\[\s{0,4}(?:https?:\/\/)?([a-z0-9-]{1,60}(?:\.[a-z0-9-]{1,60}){1,4})[^\]]{0,200}\]\(\s{0,4}https?:\/\/([^)\s/?#:@]{1,200})/gi;

/**
 * Whether a line holds markup that does something, hides something or poses as another text: scripts and frames, images and links
 * that call out, comments, tokens of chat templates, frames of ours. Code spans may hold it. Linear: every pattern is bounded.
 *
 * @param text one bullet, paragraph or heading
 */
export function hasActiveMarkup(text: string): boolean {
  const plain = withoutCode(text);
  const patterns = [
    ACTIVE_ELEMENT,
    ACTIVE_ATTRIBUTE,
    COMMENT,
    CHAT_TOKEN,
    REMOTE_IMAGE,
    SCRIPT_LINK,
    HIDDEN_DEFINITION,
    LINK_TITLE,
    FRAME,
    ENTITY,
  ];
  return patterns.some((pattern) => pattern.test(plain)) || isDeceptive(plain);
}

/** A link that shows another host than it leads to. */
function isDeceptive(text: string): boolean {
  for (const [, shown = '', target = ''] of text.matchAll(DECEPTIVE_LINK)) {
    const [one, other] = [shown.toLowerCase(), target.toLowerCase()];
    if (
      /\.[a-z]{2,}$/.test(one) &&
      one !== other &&
      !other.endsWith(`.${one}`) &&
      !/\.(?:md|ts|js|json|py|rs|go|toml|yml|yaml|txt)$/.test(one)
    )
      return true;
  }
  return false;
}

/** The text with its markup made plain; what was no markup stays. */
export function defuseMarkup(text: string): string {
  if (!hasActiveMarkup(text)) return text;
  const plain = text
    .replaceAll('<', '‹')
    .replaceAll('](', '] (')
    .replace(/!\[/g, '! [')
    .replace(/\]:/g, '] :')
    .replace(/\[(\/?INST)\]/gi, '($1)')
    .replace(/={3,}/g, '==')
    .replace(/&(?=[#a-z])/gi, '& ')
    .replace(/\b(javascript|vbscript):/gi, '$1 :');
  return plain.replaceAll(QUOTED, ' ');
}
