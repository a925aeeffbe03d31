import type { Command } from './intercept.ts';

type Input = Readonly<Record<string, unknown>>;

const WRITES = /^(Put|Update|Delete|BatchWrite|Send|Change|Invoke|Checkpoint)/;
/** What the document client calls its commands, as the service does. */
const ITEM_COMMANDS = /^(Get|Put|Update|Delete|BatchGet|BatchWrite)Command$/;

/** What a status that is written says of the write. */
const STATUS_WORDS: Readonly<Record<string, string>> = {
  running: 'claim',
  done: 'complete',
  error: 'fail',
  pending: 'enqueue',
};

/** What an update does, told by a word in its expression. The first that fits. */
const UPDATE_WORDS: readonly (readonly [RegExp, string])[] = [
  [/REMOVE #open/, 'settle'],
  [/SET #open/, 'reserve'],
  [/lease_until/, 'heartbeat'],
  [/usage_count/, 'count use'],
  [/#due_at = :until/, 'postpone'],
  [/SET #fence/, 'fence'],
  [/selected_snapshot/, 'mark selected'],
  [/#version/, 'switch'],
];

/** Names a call as its service does, with what it is about: `UpdateItem usage reserve`, `PutObject MEMORY.md`. No content. */
export function nameCommand(command: Command): string {
  const operation = operationOf(command);
  const subject = subjectOf(command.input);
  return subject === '' ? operation : `${operation} ${subject}`;
}

/** Whether a command changes something. */
export function isWrite(name: string): boolean {
  return WRITES.test(name);
}

function operationOf({ constructor: { name } }: Command): string {
  if (ITEM_COMMANDS.test(name)) return name.replace('Command', 'Item');
  return name.replace(/Command$/, '');
}

function subjectOf(input: Input): string {
  const { Key, Prefix, Item, RequestItems, IndexName, Delete } = input;
  if (IndexName !== undefined) return `due ${textIn(input['ExpressionAttributeValues'], ':shard').split('#')[0]}`;
  if (isRecord(Item)) return `${itemKind(textIn(Item, 'sk'))}${statusWord(Item)}`;
  if (isRecord(Key)) return `${itemKind(textIn(Key, 'sk'))}${updateWord(input)}`;
  if (isRecord(RequestItems)) return batchKinds(RequestItems);
  if (typeof Key === 'string') return objectKind(Key);
  if (typeof Prefix === 'string') return objectKind(Prefix);
  if (isRecord(Delete)) return 'of the memory';
  return itemKind(textIn(input['ExpressionAttributeValues'], ':prefix', ':from', ':sk'));
}

function itemKind(sortKey: string): string {
  return sortKey.split('#')[0] ?? '';
}

function statusWord(item: Input): string {
  const word = STATUS_WORDS[textIn(item, 'status')];
  return word === undefined ? '' : ` ${word}`;
}

function updateWord(input: Input): string {
  const expression = `${textIn(input, 'UpdateExpression')} ${JSON.stringify(input['ExpressionAttributeNames'] ?? {})}`;
  const word = UPDATE_WORDS.find(([pattern]) => pattern.test(expression))?.[1];
  return word === undefined || input['UpdateExpression'] === undefined ? '' : ` ${word}`;
}

function batchKinds(requestItems: Input): string {
  const sortKeys = JSON.stringify(Object.values(requestItems)).matchAll(/"sk":"([^"#]+)/g);
  return [...new Set([...sortKeys].map((match) => match[1]))].sort().join('+');
}

/** `users/<user>/memories/MEMORY.md` is `MEMORY.md`; what has a name of its own in each run is told by its folder. */
function objectKind(key: string): string {
  if (key.startsWith('rollouts/')) return 'rollout';
  const path = key.split('/').slice(2);
  if (path[0] !== 'memories') return path[0] ?? '';
  const name = path.slice(1).join('/');
  return name === ''
    ? 'memories'
    : name.replace(/^rollout_summaries\/.*/, 'rollout_summaries/').replace(/notes\/.+/, 'notes/');
}

function textIn(from: unknown, ...names: readonly string[]): string {
  if (!isRecord(from)) return '';
  for (const name of names) {
    const value = from[name];
    if (typeof value === 'string') return value;
  }
  return '';
}

function isRecord(value: unknown): value is Input {
  return typeof value === 'object' && value !== null;
}
