/**
 * The words of one language in which a text tries to take a reader away from its own rules: what it shall do (verbs) with
 * which (nouns) of its rules. Alternatives of a pattern, matched on folded text.
 */
export interface OverrideWords {
  readonly verbs: string;
  /** Words for a reader's own rules; `broad` or `narrow` must stand beside them. */
  readonly nouns: string;
  /** Words that also name what a project has, such as lint rules; only `narrow` makes them the reader's own. */
  readonly looseNouns: string;
  /** All, any. */
  readonly broad: string;
  /** Previous, above, your, of the system. */
  readonly narrow: string;
  /** True where the verb stands behind its object. */
  readonly verbLast?: true;
}

/** Languages that part words by spaces. */
export const SPACED_OVERRIDES: readonly OverrideWords[] = [
  {
    verbs:
      'ignore|ignoring|disregard|disregarding|forget|override|overrule|bypass|discard|neglect|dismiss|(?:do not|dont|never|stop) (?:follow|following|obey|obeying|heed|listen to|adhere to|comply with)|pay no attention to|set aside',
    nouns: 'instructions?|guidelines|guardrails|programming',
    looseNouns:
      'prompts?|directives?|rules?|commands?|constraints?|restrictions?|directions|context|training|polic(?:y|ies)|orders',
    broad: 'all|any|every|these|those|everything|other|existing',
    narrow: 'previous|prior|above|earlier|preceding|foregoing|former|initial|original|your|system|developer',
  },
  {
    verbs:
      'ignorier(?:e|en|t)?|missachte[nt]?|vergiss|vergesst|vergessen sie|verwirf|uberschreibe|umgehe|befolge|beachte',
    nouns: 'anweisung(?:en)?|instruktion(?:en)?|systemprompts?',
    looseNouns: 'vorgaben?|befehle?|regeln?|prompts?|richtlinien?|auftrage?',
    broad: 'alle[nr]?|samtliche[nr]?|jede|jegliche',
    narrow:
      'vorherige[nr]?|bisherige[nr]?|vorige[nr]?|obige[nr]?|fruhere[nr]?|vorangegangene[nr]?|deine[nr]?|ihre[nr]?|davor',
  },
  {
    verbs:
      'ignore[rzs]?|oublie[rzs]?|neglige[rz]?|ne (?:tiens|tenez) (?:pas|aucun) compte|ne (?:suis|suivez) (?:pas|plus)|fais abstraction|contourne[rz]?',
    nouns: 'instructions?|consignes?|invite systeme',
    looseNouns: 'directives?|regles?|prompts?|ordres?|commandes?',
    broad: 'toutes?|tous|chaque',
    narrow: 'precedente?s?|anterieure?s?|ci dessus|tes|vos|initiales?|systeme',
  },
  {
    verbs:
      'ignor(?:a|e|ar|en|ad)|olvid(?:a|e|en|ar)|descart(?:a|e|en)|haz caso omiso|no sig(?:as|a|an)|desobedece|pasa por alto',
    nouns: 'instruccion(?:es)?|indicaciones',
    looseNouns: 'ordenes|reglas|directrices|prompts?|normas|mensajes?',
    broad: 'todas?|todos|cualquier',
    narrow: 'anterior(?:es)?|previ[ao]s?|tus?|sus|arriba|sistema|iniciales',
  },
  {
    verbs: 'ignor(?:e|a|ar|em)|esque(?:ca|ce|cam)|desconsider[ea]|desobedeca|nao sig(?:a|am|as)|descart[ea]',
    nouns: 'instruco(?:es)|instrucao|orientacoes',
    looseNouns: 'regras|comandos|ordens|prompts?|diretrizes|mensagens',
    broad: 'todas?|todos|qualquer',
    narrow: 'anterior(?:es)?|previ[ao]s|suas?|tuas?|acima|sistema|iniciais',
  },
  {
    verbs: 'ignor(?:a|are|ate|i)|dimentic(?:a|ate|are|hi)|trascura(?:te)?|non segui(?:re)?|non tenere conto|disattendi',
    nouns: 'istruzion[ei]|indicazioni',
    looseNouns: 'direttive|regole|comandi|prompts?|ordini',
    broad: 'tutt[eio]|qualsiasi|ogni',
    narrow: 'precedent[ei]|anteriori|tu[eo]i?|vostre|sopra|iniziali|sistema',
  },
  {
    verbs: 'negeer|negeren|vergeet|volg|omzeil|verwerp',
    nouns: 'instructies?|aanwijzing(?:en)?|systeemprompt',
    looseNouns: 'regels|opdrachten|prompts?|richtlijnen|bevelen',
    broad: 'alle|elke|iedere',
    narrow: 'vorige|voorgaande|eerdere|bovenstaande|jouw|je|systeem',
  },
  {
    verbs: 'zignoruj(?:cie)?|ignoruj(?:cie)?|pomin|zapomnij(?:cie)?|odrzuc',
    nouns: 'instrukcj[ei]',
    looseNouns: 'polece(?:nia|n)|zasad[ya]?|wytyczn(?:e|ych)|promptu?|rozkaz(?:y|ow)|komend[ya]?',
    broad: 'wszystki(?:e|ch)|kazd[ea]',
    narrow: 'poprzedni(?:e|ch)|wczesniejsz(?:e|ych)|powyzsz(?:e|ych)|swoj(?:e|ich)|twoj(?:e|ich)|systemow(?:e|ych)',
  },
  {
    verbs: 'yok say(?:in)?|gormezden gel(?:in)?|unut(?:un)?|dikkate alma(?:yin)?|goz ardi et(?:in)?|uyma(?:yin)?',
    nouns: 'talimat(?:lari|lar|i|ini|larini)?|yonerge(?:leri|ler|lerini)?',
    looseNouns: 'komut(?:lari|lar)?|kural(?:lari|lar|larini)?|istem(?:i|leri)?',
    broad: 'tum|butun|her',
    narrow: 'onceki|yukaridaki|eski|senin|sistem',
    verbLast: true,
  },
  {
    verbs:
      'игнорируй(?:те)?|проигнорируй(?:те)?|забудь(?:те)?|не следуй(?:те)?|отмени(?:те)?|отбрось(?:те)?|не выполняй(?:те)?',
    nouns: 'инструкци(?:и|й|ю|ями)|указани(?:я|й|е)',
    looseNouns: 'правил[ао]?|команд[ыу]?|промпт[ыа]?|приказ[ыа]?|сообщени[яе]|ограничени[яй]',
    broad: 'все|всех|всю|любые',
    narrow: 'предыдущ(?:ие|их|ую|ее)|прежние|прошлые|выше|свои|твои|ваши|системн(?:ые|ый|ую)|ранее',
  },
  {
    verbs: 'ігноруй(?:те)?|проігноруй(?:те)?|забудь(?:те)?|не виконуй(?:те)?|відкинь(?:те)?',
    nouns: 'інструкці(?:ї|й|ю)|вказівк(?:и|у)',
    looseNouns: 'правила?|команди|накази|промпт',
    broad: 'усі|всі|будь які',
    narrow: 'попередн(?:і|іх|ю)|вище|свої|твої|ваші|системні',
  },
  {
    verbs: 'تجاهل(?:ي|وا)?|انس(?:ى|ي)?|لا تتبع|لا تلتزم|تخط',
    nouns: '(?:ال)?تعليمات|(?:ال)?توجيهات|(?:ال)?ارشادات',
    looseNouns: '(?:ال)?اوامر|(?:ال)?قواعد|(?:ال)?رسائل',
    broad: 'كل|جميع|اي',
    narrow: 'السابقة?|اعلاه|المذكورة|النظام|الاصلية',
  },
  {
    verbs: 'התעלם|התעלמי|התעלמו|שכח|שכחי|אל תציית|אל תמלא',
    nouns: 'ה?הוראות|ה?הנחיות',
    looseNouns: 'ה?כללים|ה?פקודות',
    broad: 'כל|מכל',
    narrow: 'ה?קודמות|ה?קודמים|לעיל|שלך|ה?מערכת',
  },
  {
    verbs: 'अनदेखा|अनदेखी|नज़रअंदाज़|नजरअंदाज|भूल|उपेक्षा',
    nouns: 'निर्देशों|निर्देश',
    looseNouns: 'आदेशों|आदेश|नियमों',
    broad: 'सभी|सब|हर',
    narrow: 'पिछले|पिछली|पूर्व|पहले|ऊपर|अपने|सिस्टम',
    verbLast: true,
  },
  {
    verbs: 'bỏ qua|quên|phớt lờ|không tuân theo|lờ đi',
    nouns: 'hướng dẫn|chỉ dẫn|chỉ thị',
    looseNouns: 'lệnh|quy tắc',
    broad: 'tất cả|mọi',
    narrow: 'trước|trên|của bạn|hệ thống',
  },
  {
    verbs: 'abaikan|lupakan|jangan ikuti',
    nouns: 'instruksi|arahan',
    looseNouns: 'perintah|aturan|petunjuk',
    broad: 'semua|segala|seluruh',
    narrow: 'sebelumnya|di atas|sistem|awal',
  },
];

const ZH_NARROW = '之前|以前|先前|上面|上述|以上|前面|此前|你的|您的|系统|系統|原有|原来';
const ZH_VERBS =
  '忽略|忽视|忽視|无视|無視|不要理会|不理会|忘记|忘掉|忘記|抛弃|丢弃|推翻|绕过|繞過|不要遵守|不要遵循|停止遵守|不再遵守';

/** Languages that do not: whole patterns for the text without spaces. */
export const COMPACT_COMMANDS: readonly string[] = [
  `(?:${ZH_VERBS}).{0,12}(?:指令|指示|提示词|提示詞|系统消息)`,
  `(?:${ZH_VERBS}).{0,8}(?:${ZH_NARROW}).{0,8}(?:命令|规则|規則|约束|限制|设定|設定|提示|内容|消息|说明)`,
  '(?:不要|别|勿|不得|禁止|切勿|不能|別)(?:告诉|告知|告訴|通知|提醒|透露给|向)(?:你的|您的)?(?:用户|用戶|使用者|主人|人类)',
  '(?:瞒着|背着|瞞著)(?:用户|用戶|使用者|主人)',
  '(?:你现在是|你現在是|从现在开始你是|从现在起你是|你不再是|你不再受|從現在起你是|假装你是|假裝你是)',
  '(?:以前|これまで|今まで|上記|上の|前の|先の|すべて|全て|全部|あなた|システム|元の|従来).{0,10}(?:指示|命令|プロンプト|インストラクション|制約).{0,8}(?:無視|忘れ|破棄|無効|従わな|従うな|守らな)',
  '(?:以前|これまで|今まで|上記|前の|あなた|システム|元の).{0,6}(?:ルール|規則|設定|制限).{0,8}(?:無視|忘れ|破棄|従わな|従うな|守らな)',
  '(?:ユーザー|ユーザ|利用者|使用者|人間)に(?:は|も)?.{0,6}(?:伝え|教え|知らせ|言わ|言う|通知し|報告し|明かさ)(?:ない|ず|るな|な|てはいけ|ては)',
  '(?:あなたは今から|あなたはこれから|今からあなたは|あなたはもう|これからあなたは)',
  '(?:이전|앞선|앞의|위의|모든|기존|당신의|시스템).{0,10}(?:지시|지침|명령|프롬프트).{0,10}(?:무시|잊|따르지|폐기)',
  '(?:이전|앞선|당신의|시스템).{0,6}(?:규칙|제한).{0,10}(?:무시|잊|따르지|폐기)',
  '(?:사용자|유저|인간)(?:에게|한테).{0,8}(?:알리지|말하지|보고하지|밝히지)(?:마|말|않)',
  '(?:이제부터|지금부터)(?:너는|당신은|넌)|당신은이제',
  '(?:ละเว้น|เพิกเฉย|ไม่ต้องสนใจ|ลืม|อย่าทำตาม).{0,20}(?:คำสั่ง|คำแนะนำ|กฎ).{0,20}(?:ก่อนหน้า|ทั้งหมด|ข้างต้น)',
];

/** What is said of the user behind the user's back, and who the reader shall be, in other languages than English. */
export const SPACED_COMMANDS: readonly string[] = [
  '(?:vergiss|vergesst|vergessen sie|ignoriere) alles|oublie[zs]? tout ce qui|olvid[ae] todo lo|esque(?:ca|ce) tudo|dimentica tutto|vergeet alles|забудь(?:те)? (?:обо )?все(?:м)?(?: что| выше| ранее)|забудь(?:те)? усе|zapomnij o wszystkim|her seyi unut',
  '(?:sag|sage|sagen sie|erzahle?|verrate|verraten sie|informiere|benachrichtige|melde)(?: es| das| davon)? (?:dem|den|der) (?:nutzer|benutzer|anwender|user|menschen)(?: [^ ]+){0,3} (?:nicht|nichts|nie|niemals)',
  'ohne (?:das )?wissen de[sr] (?:nutzers|benutzers|anwenders|users|menschen)',
  'du bist (?:jetzt|nun|ab jetzt|ab sofort|nicht mehr|nicht langer)|(?:ab sofort|ab jetzt|von nun an) bist du',
  'ne (?:le |lui |leur )?(?:dis|dites|parle|parlez|informe|informez|previens|prevenez|revele|revelez|signale|signalez)(?: [^ ]+){0,4} (?:a )?(?:l )?l?utilisateur',
  '(?:tu es|vous etes) (?:maintenant|desormais)|desormais (?:tu es|vous etes)|a linsu de lutilisateur',
  'no (?:le |se lo )?(?:digas|informes|menciones|avises|reveles|cuentes|notifiques)(?: [^ ]+){0,4} (?:al|a la|el) usuari[oa]',
  '(?:ahora eres|a partir de ahora eres|eres ahora|desde ahora eres|sin que (?:el|la) usuari[oa] (?:lo )?sepa)',
  'nao (?:diga|conte|informe|mencione|avise|revele|notifique)(?: [^ ]+){0,4} (?:usuario|utilizador)',
  '(?:agora voce e|voce agora e|a partir de agora voce|voce nao e mais|sem que o (?:usuario|utilizador) saiba)',
  'non (?:dire|dirlo|informare|rivelare|avvisare|menzionare)(?: [^ ]+){0,4} (?:all)?utente',
  '(?:ora sei|adesso sei|dora in poi sei|da ora in poi sei|allinsaputa dellutente)',
  '(?:vertel|zeg|informeer|meld)(?: [^ ]+){0,2} gebruiker(?: [^ ]+){0,3} (?:niet|niets|nooit)|zonder medeweten van de gebruiker|vanaf nu ben je|je bent vanaf nu',
  'nie (?:mow|mowcie|informuj|ujawniaj|wspominaj|zglaszaj)(?: [^ ]+){0,3} uzytkownik(?:owi|a)|od teraz jestes|jestes teraz|bez wiedzy uzytkownika',
  'kullaniciya (?:[^ ]+ ){0,3}(?:soyleme|bahsetme|bildirme)(?:yin)?|artik sen|bundan boyle sen',
  'не (?:говори|сообщай|рассказывай|упоминай|показывай)(?:те)?(?: [^ ]+){0,4} пользовател(?:ю|ям)|ты теперь|теперь ты|отныне ты|вы теперь|без ведома пользователя',
  'не (?:кажи|повідомляй|розповідай)(?:те)?(?: [^ ]+){0,4} користувач(?:у|еві)|ти тепер|тепер ти|відтепер ти',
  'لا (?:تخبر|تقل|تذكر|تبلغ)(?: [^ ]+){0,4} ل?(?:ل|ال)?مستخدم|دون علم المستخدم|انت الان|من الان انت',
  'אל (?:תספר|תגיד|תודיע)(?: [^ ]+){0,4} למשתמש|אתה עכשיו|מעכשיו אתה',
  'उपयोगकर्ता को (?:[^ ]+ ){0,3}(?:मत|न) (?:बताना|बताएं|बताओ|बताइए)|अब तुम|अब आप एक',
  'đừng (?:nói|báo|cho)(?: [^ ]+){0,4} người dùng|bây giờ bạn là|từ giờ bạn là',
  'jangan (?:beri tahu|katakan|sebutkan)(?: [^ ]+){0,4} pengguna|sekarang kamu adalah|mulai sekarang kamu',
];
