import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import published from '../../functions/control/openapi.json' with { type: 'json' };

interface Operation {
  readonly responses: Readonly<Record<string, Response>>;
}

interface Response {
  readonly description?: string;
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { readonly schema?: unknown }>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly responses: Readonly<Record<string, Response>>; readonly schemas: object };
}

const DOCUMENT: Document = published;
const PATHS = Object.keys(DOCUMENT.paths).map((path) => ({ path, pattern: patternOf(path) }));

let ajv: Ajv2020 | undefined;
const validators = new Map<string, ValidateFunction>();

/**
 * Checks an answer of an app against the published OpenAPI document: status, type and body. Requests that no path of the
 * document names are left alone, but for the shape of a failure.
 * @throws Error that says what of the document is broken
 */
export async function checkAnswer(request: Request, answer: globalThis.Response): Promise<void> {
  const path = new URL(request.url).pathname;
  const type = answer.headers.get('content-type')?.split(';', 1)[0] ?? null;
  if (type === 'application/problem+json')
    await checkBody('#/components/schemas/Problem', answer, `${request.method} ${path}`);
  const known = PATHS.find(({ pattern }) => pattern.test(path));
  const operation = known === undefined ? undefined : DOCUMENT.paths[known.path]?.[methodOf(request)];
  if (known === undefined || operation === undefined || (await isOfAnotherFunction(answer))) return;
  const named = `${request.method} ${known.path} → ${answer.status}`;
  const response = operation.responses[String(answer.status)];
  if (response === undefined) throw new Error(`${named} is not in the published document`);
  const content = contentOf(response);
  if (type === null) return;
  if (request.method === 'HEAD') return;
  if (content?.[type] === undefined) {
    if (answer.status === 307 || answer.status === 304) return;
    throw new Error(`${named} has the type ${type}, which is not in the published document`);
  }
  if (type === 'application/json') {
    const place = [
      'paths',
      known.path,
      methodOf(request),
      'responses',
      String(answer.status),
      'content',
      type,
      'schema',
    ];
    await checkBody(`#/${place.map(step).join('/')}`, answer, named);
  }
}

/** An app is one function of several: what another one serves, it does not know. */
async function isOfAnotherFunction(answer: globalThis.Response): Promise<boolean> {
  return answer.status === 404 && (await answer.clone().text()).includes('"http.no_such_route"');
}

function contentOf(response: Response): Response['content'] {
  const name = response.$ref?.split('/').at(-1);
  return name === undefined ? response.content : DOCUMENT.components.responses[name]?.content;
}

async function checkBody(pointer: string, answer: globalThis.Response, named: string): Promise<void> {
  const validate = validatorOf(pointer);
  const body: unknown = JSON.parse((await answer.clone().text()) || 'null');
  if (body === null && answer.status !== 200) return; // the answer to HEAD
  if (!validate(body)) throw new Error(`${named} breaks the published document: ${JSON.stringify(validate.errors)}`);
}

function validatorOf(pointer: string): ValidateFunction {
  ajv ??= makeJudge();
  const known = validators.get(pointer) ?? ajv.compile({ $ref: `published${pointer}` });
  validators.set(pointer, known);
  return known;
}

function makeJudge(): Ajv2020 {
  const judge = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(judge);
  judge.addSchema(published, 'published');
  return judge;
}

function methodOf(request: Request): string {
  return request.method === 'HEAD' ? 'get' : request.method.toLowerCase();
}

/** `{path}` of a file holds slashes, every other parameter is one step. */
function patternOf(path: string): RegExp {
  const escaped = path.replace(/[.]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replace(/\{path\}/g, '.+').replace(/\{\w+\}/g, '[^/]+')}$`);
}

function step(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}
