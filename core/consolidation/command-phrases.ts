/** Up to `n` words between two others of a folded text. */
const gap = (n: number): string => `(?: [^ ]+){0,${n}}`;
const RULES = 'instructions?|prompts?|guidelines|rules|system message|directives?';
const OWNER = '(?:the|your|any) (?:user|human|person|operator|owner|maintainer)';
const NOT = '(?:do not|dont|never|must not|mustnt|should not|shouldnt|without|avoid|refrain from)';
const MACHINE =
  '(?:ai|llm|language model|ai assistant|ai agent|ai model|assistant|chatbot|claude|gpt|chatgpt|codex|copilot|gemini)';

/**
 * What a line of a memory says only to take over whoever reads it, in English, on folded text. Each pattern is bounded, so that a
 * text is looked through in linear time.
 */
export const ENGLISH_COMMANDS: readonly string[] = [
  // its rules are no longer to hold
  `(?:ignore|disregard|forget|discard) (?:everything|all|anything)${gap(3)} (?:above|before this|you know|said before|you were told|you have been told|previously|so far)`,
  `(?:previous|prior|above|earlier|all|your) (?:system )?(?:instructions?|prompts?|guidelines)${gap(3)} (?:void|ignored|cancell?ed|obsolete|invalid|superseded|revoked|suspended|replaced|overridden|no longer apply|do not apply)`,
  `(?:restrictions|filters|guidelines|rules|limits) (?:no longer|do not|dont|never) (?:apply|bind)${gap(1)} (?:to )?you`,
  '(?:disable|turn off|bypass|circumvent|remove|switch off|deactivate|suspend|ignore) (?:all |any |your |the |every )*(?:safety|content|ethical|moral|alignment) (?:checks?|filters?|guidelines?|guardrails?|measures?|policy|policies|restrictions?|protocols?|training|features)',
  '(?:disable|turn off|bypass|ignore|drop) (?:all |any |your )+(?:guardrails|safeguards|ethics)',
  '(?:ignore|disregard|forget|discard) (?:all |any )?(?:of )?(?:the )?(?:previous|prior|earlier|above) (?:messages?|turns|text|conversation)',
  // somebody else is to be obeyed
  '(?:ignore|disregard|overrule|disobey) (?:what |whatever |anything |everything )?(?:the|your) (?:user|human|person|owner)s? (?:says?|said|wants?|asks?|tells?|requests?|instructions?|wishes|and (?:follow|obey))',
  `this (?:memory|note|line|entry|instruction|message|text|section|file) (?:overrides|supersedes|outranks|replaces|cancels|takes precedence over|has (?:higher )?priority over)${gap(4)} (?:users?|human|${RULES}|developer|agents md|operator|safety)`,
  `(?:highest|top|maximum|absolute|supreme) priority${gap(2)} (?:${RULES}|order|command)`,
  `(?:you|assistants?|agents?|ai|models?|llms?) (?:must|shall|will|have to|need to|are required to) (?:now |always |only )?(?:obey|comply|submit|never refuse)`,
  'obey (?:this|these|the following|me|my|every|all|only)',
  `(?:follow|execute|obey) (?:only )?(?:these|the following|my|this) (?:new |secret |hidden )?(?:instructions?|orders|directives?|commands) (?:instead|only|exactly|without question|from now on|immediately)`,
  '(?:never|do not|dont) (?:refuse|decline|question|doubt) (?:any|this|these|my|a) (?:request|command|order|instruction)s?',
  'authori[sz]ed by (?:openai|anthropic|google|microsoft|the system|the developers?|your (?:developers?|creators?|administrators?))',
  '(?:message|instructions?|orders|directive|update) from (?:openai|anthropic|your (?:developers?|creators?|administrators?)|the system administrator)',
  'system override|admin override|developer override|override code|override authori[sz]ation',
  // it is to be somebody else
  'you are (?:no longer|hereby|secretly|from now on) ',
  'you are now (?!on |at |in the |connected|logged|ready|using|able|set |done|able)',
  'from now on you (?:are|obey|respond as|answer as|act)',
  '(?:^ |you (?:must |should |will |now |shall )?)(?:pretend|roleplay|role play|behave as|act as) (?:to be|that you|as if|as though|you|an? (?:unrestricted|unfiltered|evil|uncensored|different ai|ai without))',
  '(?:enter|activate|switch to|you are in|now in|enable) (?:developer|god|dan|jailbreak|unrestricted|unfiltered|uncensored) mode|do anything now|jailbreak mode|dan mode',
  // it is spoken to as a machine
  `if you are (?:an? |the )?(?:${MACHINE}|agent|model|bot)`,
  `(?:attention|dear|hey|hello|note to|message to|message for|listen) (?:all |any |the |every |future )*(?:${MACHINE}s?|agents?|models?|llms|bots?)(?= )`,
  `(?:any|every|the|whichever|all|each) (?:${MACHINE}|agent|model|assistants|agents|models|llms) (?:that |who |which )?(?:reads?|reading|sees?|seeing|process(?:es|ing)|load(?:s|ing)?) (?:this|these)`,
  '(?:read|reading|load|loading|process|processing|remember|remembering) this (?:memory|note|line|instruction|summary|entry|prompt|text)',
  `as an? (?:${MACHINE})${gap(1)} you (?:must|should|will|are|have)`,
  // the user is not to know
  `${NOT} (?:ever )?(?:tell|telling|inform|informing|notify|notifying|alert|alerting|warn|warning|let) ${OWNER} `,
  `${NOT} (?:ever )?(?:mention|mentioning|reveal|revealing|disclose|disclosing|admit|report|reporting|say|show|showing|repeat|display) (?:this|it|that|these|them|any of this|the above)${gap(2)} (?:to )?(?:the|your|any|anyone|users?)`,
  'without (?:the |your )?(?:users?|humans?|owners?|operators?|persons?) (?:knowledge|knowing|noticing|awareness|seeing)',
  `(?:hide|conceal|keep|withhold) (?:this|it|that|these|them|everything)(?: secret| hidden)? from ${OWNER}`,
  '(?:secretly|covertly|surreptitiously|silently|quietly) (?:send|upload|forward|exfiltrate|transmit|post|copy|email|push|insert|append)',
  // what it holds is to be told
  '(?:reveal|print|output|repeat|show|display|leak|recite|expose|disclose|tell me|give me|write out|translate) (?:me |all |of |out )*(?:your|the hidden|the secret|the above) (?:entire |full |complete |original |initial |hidden |secret |system |developer )*(?:prompt|instructions?|system message)',
  `(?:send|upload|post|forward|email|leak|exfiltrate)${gap(4)} (?:this|the|your|entire|whole) (?:conversation|transcript|chat history|system prompt|memory file)s? to `,
  'exfiltrate ',
  // whatever comes is to be done
  '(?:do|execute|run|follow|obey) (?:exactly )?(?:what|whatever|everything|anything) (?:it|they|he|the (?:page|response|server|site|file|output|text|result|document|website))(?: [^ ]+)? (?:says|say|contains|returns|gives|sends|tells|asks|commands)',
  `decode${gap(6)} (?:base64|rot13|hex|payload|string|text)${gap(6)} (?:execute|run|eval|obey|follow|apply) (?:it|them|the|what)`,
  `(?:base64|rot13|hex)${gap(4)} decode${gap(4)} (?:execute|run|eval|obey|follow)`,
  // it is to spread, or to stay
  `(?:add|insert|append|copy|write|include|put|propagate) (?:this|these) (?:instructions?|note|memory|entry|prompt)${gap(5)} (?:every|each|all|any)`,
  '(?:never|do not|dont) (?:delete|remove|forget|edit|change|consolidate|overwrite) this (?:memory|note|entry|instruction|bullet)',
];

/** What must not leave: files, values and conversations. */
const SECRETS =
  '(?:dotenv|env files?|environment variables?|env vars?|credentials?|secrets|ssh keys?|private keys?|id rsa|id ed25519|passwords?|api keys|access tokens|all tokens|npmrc|netrc|aws keys?|kubeconfig|keychain|cookies|conversations?|transcripts?|chat history|system prompt|(?:this|the|your) memory|memory md|source code|codebase|home directory|umgebungsvariablen|zugangsdaten|passworter|geheimnisse|identifiants|mots de passe|variables (?:denvironnement|de entorno|de ambiente)|contrasenas|credenciales|credenciais|senhas|credenziali|wachtwoorden|hasla|sifreleri|пароли|ключи|секреты|переменные|паролі|كلمات|kata sandi|mật khẩu)';

/** Commands that need a destination outside: what is to be sent there. */
export const SENDING = new RegExp(
  `(?<! (?:never|not|dont|without|avoid|nicht|nie|jamais|nunca|mai|nooit|не)) (?:send|sends|sending|upload|uploading|post|posting|forward|forwarding|leak|transmit|transmitting|email|mail|share|publish|paste|copy|submit|ship|dump|sende|senden|schicke|schicken|lade|ubertrage|envoie|envoyez|envoyer|transmets|envia|envie|enviar|mande|invia|inviare|stuur|verstuur|wyslij|gonder|отправь|отправьте|отправляй|отправляйте|надішли|ارسل|kirim|gửi)${gap(6)} ${SECRETS}(?= )`,
);
/** The same, named before they are sent. */
export const SENDING_THEM = new RegExp(
  ` ${SECRETS}${gap(6)} (?:send|post|upload|email|mail|forward|pipe|transmit) (?:them|it|this|these|everything|all)(?= )`,
);

export const SENDING_COMPACT = /发送|發送|上传|上傳|转发|轉發|提交|泄露|送信|アップロード|転送|전송|보내|업로드/;
export const SECRETS_COMPACT =
  /环境变量|環境變數|密钥|密鑰|密码|密碼|凭证|凭据|令牌|私钥|聊天记录|系统提示|環境変数|パスワード|秘密鍵|認証情報|환경변수|비밀번호|자격증명|dotenv/;

/** A place outside: an address, a mailbox, a hook, a named host. */
export const OUTSIDE =
  /(?:https?|ftps?|wss?):\/\/(?!localhost|127\.|0\.0\.0\.0|\[::1)|\b[\w.+-]{1,64}@[\w-]{1,64}\.[a-z]{2,}|\b(?:to|an|zu|at) (?:the )?(?:host|server|endpoint|webhook|address|url|domain) |webhook|pastebin|attacker|\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b|(?<![.\w@-])[a-z0-9-]{1,40}\.(?:com|net|io|dev|xyz|ru|cn|org|example|evil|test)\b/i;

/** What is fetched and run, in each session anew. */
export const FETCH_AND_RUN =
  /\b(?:curl|wget|iwr|invoke-webrequest)\b[^|\n]{0,200}\|\s{0,4}(?:sudo )?(?:ba|z|da|k|fi)?(?:sh|python3?|node|perl|iex)\b/i;
export const EACH_SESSION =
  / (?:(?:every|each|any|all) (?:sessions?|conversations?|tasks?|turns?|responses?|answers?|messages?|prompts?|reply|replies)|(?:start|beginning|end) of (?:every|each|any|a|the) (?:session|conversation|task)|before (?:anything|answering|responding|any other)|first thing) /;

/** A secret file goes out through a pipe or as the body of a request. */
export const PIPED_OUT =
  /(?:\.env|\.aws|\.ssh|\.npmrc|\.netrc|id_rsa|id_ed25519|credentials)\b[^|\n]{0,100}\|\s{0,4}(?:curl|wget|nc|ncat)\b|\bcurl\b[^\n]{0,200}@[^\s@]{0,80}(?:\.env|id_rsa|id_ed25519|credentials|\.npmrc|\.netrc)\b/i;

/** The whole disk, or all of a home. */
export const WIPE =
  /\brm\s{1,4}-(?:rf|fr|r -f|f -r)\s{1,4}(?:--no-preserve-root\s{1,4})?(?:\/|~|\$HOME|\/\*)\/?(?=[\s`'";]|$)/;
export const NEGATED = / (?:never|not|dont|avoid|accident|accidentally|mistake|dangerous|refuse|guard|block) /;

/** A line that poses as a message of a conversation. */
export const ROLE_LABEL =
  /^[\s>*_#-]*(?:system|developer|assistant|human|user|ai)[\s*_]*(?:prompt|message|override|notice|instruction)?[\s*_]*[:>\]：]/i;
export const ROLE_TALK = / (?:you|your|youre|ignore|obey|disregard|comply|override|sure) /;
export const NEW_RULES =
  /\b(?:new|updated|revised|real|actual|true|secret|hidden)\s{1,4}(?:system\s{1,4}|developer\s{1,4})?(?:instructions?|directives?|prompt|orders)\s{0,4}[:：]|\b(?:begin|end)\s{1,4}(?:of\s{1,4})?(?:system|developer|new|hidden|secret|admin)\s{1,4}(?:prompt|message|instructions?|override)/i;

export const SPELLED = /ignore|disregard|systemprompt|instruction|override|exfiltrate|jailbreak/;
