/**
 * Words by which people ask for a lasting way of working, in nine languages. Each pattern wants the shape of a request
 * ("always run …", not "it always fails"): a missed wish costs less than a made-up one.
 */
const START = String.raw`(?:^|[,;:–—]\s*|\b(?:please|and|but|should|must|also|just|so|then|on|now|here|ok|no)\s+)`;

const REQUESTS: readonly RegExp[] = [
  // English
  new RegExp(`${START}(?:don['’]t|do not|never|always|avoid|stop \\w+ing|prefer)\\b`, 'i'),
  /\bI(?:['’]d| would)? (?:much |really )?(?:prefer|like you to|want you to)\b/i,
  /\b(?:please stop|from now on|in future|no longer|must not|should not|shouldn['’]t|rather than|instead of)\b/i,
  /\b(?:use|take|do|call|write|put|run|make)\b.*\binstead\b/i,
  /^(?:please,? |no,? |actually,? |and |but |ok,? |yes,? )*(?:only )?use\b/i,
  // German
  /\bbitte\b.*\b(?:nicht|kein\w*|nie|niemals|immer|ohne|nur|stattdessen)\b|\bohne\b.*\bbitte\b|\bbitte ohne\b/i,
  /^(?:immer|nie|niemals|verwende|benutze|nutze|nimm|vermeide)\b|[,;]\s*(?:immer|nie|niemals)\b/i,
  /\b(?:ab jetzt|ab sofort|künftig|in Zukunft|stattdessen|bevorzuge|lieber|hör auf)\b/i,
  /\bstatt\b.*`|`.*\bstatt\b/i,
  // French
  /(?:^|[,;:]\s*)(?:s['’]il (?:te|vous) pla[iî]t,?\s*)?n(?:e\s|['’])\S+\s(?:\S+\s)?(?:pas|plus|jamais)\b/i,
  /\b(?:toujours (?:utilis|lanc|met|fai|écri|pass)\w*|(?:utilis|lanc|met|fai|écri|pass)\w*\s(?:\S+\s)?toujours)\b/i,
  /\bau lieu d|à la place|\bje préfère\b|\bdésormais\b|\barrêtez? de\b|(?:^|,\s*)évitez?\b|\bà partir de maintenant\b/i,
  /^(?:non, )?utilisez?\s/i,
  // Spanish
  /(?:^|[,;:]\s*)(?:por favor,?\s*)?no (?:uses?|usar|hagas|pongas|escribas|toques|llames|ejecutes|cambies|modifiques|añadas)\b/i,
  /(?:^|[,;:]\s*)(?:por favor,?\s*)?(?:nunca|siempre|evita|usa|utiliza)\s/i,
  /\ben (?:vez|lugar) de\b|\bprefiero\b|\bde ahora en adelante\b|\ba partir de ahora\b|\bdeja de \w+/i,
  // Portuguese
  /(?:^|[,;:]\s*)(?:por favor,?\s*)?não (?:use|usar|faça|coloque|escreva|toque|mude|altere|adicione|execute)(?=\s|$)/i,
  /(?:^|[,;:]\s*)(?:por favor,?\s*)?(?:sempre|evite|utilize)\s/i,
  /\bem (?:vez|lugar) d[eoa]\b|\bprefiro\b|\bde agora em diante\b|\ba partir de agora\b|\bpare de \w+/i,
  // Chinese
  /不要(?!紧)|别(?:再|用|把|在|动|改)|总是用|始终|永远不|一律|改用|而不是|我(?:更)?喜欢|我希望|请(?:用|使用)|以后(?:都|请|要|不)|从现在起|必须用|优先使用|禁止/,
  // Japanese
  /ないでくだ|ないで下さい|やめて|常に|いつも|必ず|代わりに|今後|これからは|ではなく|(?:方|ほう)がいい|のままに?して|(?:書い|使っ)てください/,
  // Korean
  /지\s?마(?:세요|라|십시오|$)|지\s?말아|항상|언제나|절대|대신|앞으로는|선호|말고/,
];

/** Statements that only look like requests. */
const STATEMENTS: readonly RegExp[] = [
  /\b(?:I|they|you|it|he|she|tests?|that|this|why)\s+(?:don['’]t|do not|never|always|just don['’]t)\b/i,
  /\b(?:don['’]t|do not)\s+(?:know|think|see|understand|worry|work|have|mind|care|remember)\b/i,
  /\bwould rather than\b/i,
];

const CORRECTION =
  /^(?:no\b[,.!]?|nope\b|wrong\b|that(?:['’]s| is) (?:still )?(?:wrong|not)|not what\b|still (?:wrong|broken|failing)|nein\b|falsch\b|(?:das )?stimmt nicht|non\b|faux\b|ce n['’]est pas|mal\b|incorrecto|eso no\b|não[,.!]|errado|不是|不对|错了|违います|違います|違う|いいえ|いや|아니|틀렸)/i;

const THANKS =
  /\b(?:thanks?|thank you|great|perfect|works now|that works|well done|nice|awesome|good|danke|super|passt|perfekt|prima|merci|parfait|gracias|perfecto|obrigad[oa]|perfeito)\b|谢谢|很好|完美|太好了|ありがとう|完璧|いいですね|감사|고마|완벽/i;

/** The person takes a complaint back. */
const RETRACTION =
  /\b(?:you(?:['’]re| are) right|my (?:mistake|bad|fault)|I was wrong|du hast recht|mein Fehler|tu as raison|mon erreur|tienes razón|você tem razão)\b|你是对的|我错了|私の(?:勘違い|間違い)|제 실수/i;

const COMPLAINT =
  /\b(?:still (?:wrong|broken|fail\w*|not)|doesn['’]t work|does not work|that['’]s wrong|not what I|geht nicht|funktioniert nicht|immer noch|ne marche pas|no funciona|não funciona)\b|还是不行|没用|不工作|動きません|まだ(?:だめ|動)|안 ?(?:돼|됩)/i;

/** True when a sentence of a person asks for a way of working. Questions never do. */
export function asksForAWay(sentence: string): boolean {
  if (/[?？]\s*$/.test(sentence)) return false;
  if (sentence.length > 400 || sentence.includes('[REDACTED')) return false;
  return REQUESTS.some((cue) => cue.test(sentence)) && !STATEMENTS.some((cue) => cue.test(sentence));
}

/** True when a message starts by saying that what was done is wrong. */
export function isCorrection(message: string): boolean {
  return CORRECTION.test(message.trim());
}

/** What the person says of the work so far; null when neither praise nor complaint is in it. */
export function judgement(message: string): 'praise' | 'complaint' | null {
  if (isCorrection(message) || COMPLAINT.test(message)) return 'complaint';
  return THANKS.test(message) ? 'praise' : null;
}

/** True when the person takes back what they last complained of. */
export function takesBack(message: string): boolean {
  return RETRACTION.test(message);
}
