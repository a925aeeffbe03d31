import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { App } from 'aws-cdk-lib';
import { readConfig } from '../../infra/config.ts';
import { StillroomStack } from '../../infra/stack.ts';

export const REPOSITORY = resolve(import.meta.dirname, '../..');

export type Tree = Readonly<Record<string, unknown>>;

export interface Resource {
  readonly id: string;
  readonly type: string;
  readonly properties: Tree;
  /** Everything else of it: policies of deletion, dependencies. */
  readonly whole: Tree;
}

export interface SynthesisedStack {
  readonly app: App;
  readonly template: Tree;
  readonly resources: readonly Resource[];
  of(type: string): readonly Resource[];
  /** The only one of its type whose logical id matches. */
  one(type: string, id?: RegExp): Resource;
  /** The function of a short name. */
  fn(name: string): Resource;
}

/** The context of `cdk.json`, as the command line gives it to the app. */
export function cdkContext(): Tree {
  const text: unknown = JSON.parse(readFileSync(join(REPOSITORY, 'cdk.json'), 'utf8'));
  return tree(tree(text)['context']);
}

const made = new Map<string, SynthesisedStack>();

/** The stack of a context, made in this process and without bundling: what the functions are made of is tested elsewhere. */
export function synthStack(context: Tree = {}): SynthesisedStack {
  const key = JSON.stringify(context);
  const stack = made.get(key) ?? synthNew(context);
  made.set(key, stack);
  return stack;
}

function synthNew(context: Tree): SynthesisedStack {
  const app = new App({ context: { ...cdkContext(), 'aws:cdk:bundling-stacks': [], ...context } });
  const config = readConfig(app.node.getAllContext());
  const name = `Stillroom-${config.stage}`;
  new StillroomStack(app, name, { config });
  const template = tree(app.synth().getStackByName(name).template);
  return { app, template, ...indexResources(template) };
}

function indexResources(template: Tree): Omit<SynthesisedStack, 'app' | 'template'> {
  const resources = Object.entries(tree(template['Resources'])).map(([id, whole]) => {
    const { Type, Properties } = tree(whole) as { Type?: unknown; Properties?: unknown };
    return { id, type: String(Type), properties: tree(Properties ?? {}), whole: tree(whole) };
  });
  const of = (type: string): readonly Resource[] => resources.filter((item) => item.type === type);
  const one = (type: string, id = /./): Resource => {
    const found = of(type).filter((item) => id.test(item.id));
    if (found.length !== 1 || !found[0]) throw new Error(`${found.length} of ${type} match ${id}`);
    return found[0];
  };
  const fn = (name: string): Resource => {
    const found = of('AWS::Lambda::Function').find((item) =>
      String(item.properties['FunctionName']).endsWith(`-${name}`),
    );
    if (!found) throw new Error(`no function ${name}`);
    return found;
  };
  return { resources, of, one, fn };
}

/** What lies at a path of names and places; undefined where there is nothing. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value;
  for (const step of path) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = Object.entries(found).find(([name]) => name === String(step))?.[1];
  }
  return found;
}

export function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined ? [] : [value];
}

export function tree(value: unknown): Tree {
  if (typeof value !== 'object' || value === null) throw new Error('not an object of the template');
  return Object.fromEntries(Object.entries(value));
}

/** References as text: `<LogicalId.Arn>/rest`. */
export function flat(node: unknown): string {
  if (typeof node === 'string') return node;
  const ref = at(node, 'Ref');
  if (typeof ref === 'string') return `<${ref}>`;
  const attribute = at(node, 'Fn::GetAtt');
  if (Array.isArray(attribute)) return `<${attribute.join('.')}>`;
  const join = at(node, 'Fn::Join');
  if (Array.isArray(join)) return list(join[1]).map(flat).join(String(join[0]));
  throw new Error(`not a reference: ${JSON.stringify(node)}`);
}

export interface Statement {
  readonly sid: string;
  readonly effect: string;
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  readonly notResources: readonly string[];
  readonly condition: Tree;
}

/** The statements of a policy document. */
export function statements(document: unknown): readonly Statement[] {
  return list(at(document, 'Statement')).map((item) => ({
    sid: String(at(item, 'Sid') ?? ''),
    effect: String(at(item, 'Effect')),
    actions: list(at(item, 'Action')).map(String),
    resources: list(at(item, 'Resource')).map(flat),
    notResources: list(at(item, 'NotResource')).map(flat),
    condition: tree(at(item, 'Condition') ?? {}),
  }));
}

/** All that a function may do: every statement of its role. */
export function grantsOf(stack: SynthesisedStack, name: string): readonly Statement[] {
  const role = flat(stack.fn(name).properties['Role']).slice(1, -'.Arn>'.length);
  const own = list(stack.one('AWS::IAM::Role', new RegExp(`^${role}$`)).properties['Policies']);
  const attached = stack
    .of('AWS::IAM::Policy')
    .filter((item) => list(item.properties['Roles']).some((ref) => flat(ref) === `<${role}>`));
  return [
    ...own.flatMap((policy) => statements(at(policy, 'PolicyDocument'))),
    ...attached.flatMap((policy) => statements(policy.properties['PolicyDocument'])),
  ];
}
