/** What of an OpenAPI document the page shows. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
  readonly components: {
    readonly responses: Readonly<Record<string, { readonly description: string }>>;
    readonly schemas: Readonly<Record<string, unknown>>;
  };
}

interface ApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly ApiParameter[];
  readonly requestBody?: { readonly description?: string; readonly content: ApiContent };
  readonly responses: Readonly<Record<string, ApiResponse>>;
}

interface ApiParameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: ApiSchema;
}

interface ApiResponse {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: ApiContent;
}

type ApiContent = Readonly<Record<string, { readonly schema?: ApiSchema }>>;
type ApiSchema = Readonly<Record<string, unknown>>;

const STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; } h2 { margin-top: 2.5rem; }
code, pre { font: 14px/1.45 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid var(--line); border-radius: 6px; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: .5rem .75rem; }
details details { margin-left: 0; }
summary { cursor: pointer; } summary code { font-weight: 600; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); }
`;

/**
 * The OpenAPI document as one page of HTML for a person: no script, no address elsewhere. Every text of the document is
 * escaped.
 */
export function renderDocsPage(document: ApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const sections = document.tags.map(({ name, description }) => {
    const listed = operations.filter(({ operation }) => operation.tags.includes(name));
    return `<section><h2>${html(name)}</h2><p>${prose(description)}</p>${listed.map((item) => renderOperation(item, document)).join('')}</section>`;
  });
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      `<details id="schema-${html(name)}"><summary><code>${html(name)}</code></summary>${code(schema)}</details>`,
  );
  const { title, version, description } = document.info;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${html(title)} API</title><style>${STYLE}</style></head>
<body><header><h1>${html(title)} API</h1><p>Version ${html(version)}. ${prose(description)} The same for machines: <a href="openapi.json">openapi.json</a>.</p></header>
<main>${sections.join('\n')}
<section><h2>Schemas</h2>${schemas.join('\n')}</section></main></body></html>
`;
}

interface Listed {
  readonly method: string;
  readonly path: string;
  readonly operation: ApiOperation;
}

function renderOperation({ method, path, operation }: Listed, document: ApiDocument): string {
  const parts = [
    operation.description === undefined ? '' : `<p>${prose(operation.description)}</p>`,
    renderParameters(operation.parameters ?? []),
    renderBody(operation.requestBody),
    renderResponses(operation.responses, document),
  ];
  const head = `<summary><code>${html(`${method} ${path}`)}</code> ${prose(operation.summary)}</summary>`;
  return `<details id="${html(operation.operationId)}">${head}${parts.join('')}</details>`;
}

function renderParameters(parameters: readonly ApiParameter[]): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map((parameter) => {
    const place = parameter.required ? `${parameter.in}, required` : parameter.in;
    const cells = [
      `<code>${html(parameter.name)}</code>`,
      html(place),
      `<code>${html(limitsOf(parameter.schema))}</code>`,
    ];
    return `<tr>${[...cells, prose(parameter.description ?? '')].map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  });
  return `<h4>Parameters</h4><table><tr><th>Name</th><th>In</th><th>Value</th><th></th></tr>${rows.join('')}</table>`;
}

/** `integer 1…2500`, `one of auto, global, all`: what a person needs of a schema in one line. */
function limitsOf(schema: ApiSchema): string {
  if (Array.isArray(schema['enum'])) return `one of ${schema['enum'].join(', ')}`;
  const type = typeof schema['type'] === 'string' ? schema['type'] : 'value';
  const low = schema['minimum'] ?? schema['minLength'];
  const high = schema['maximum'] ?? schema['maxLength'];
  const bounded = high !== undefined && high !== Number.MAX_SAFE_INTEGER;
  const range = low === undefined && !bounded ? '' : ` ${low ?? ''}…${bounded ? String(high) : ''}`;
  const pattern = typeof schema['pattern'] === 'string' ? ` ${schema['pattern']}` : '';
  return `${type}${range}${pattern}`;
}

function renderBody(body: ApiOperation['requestBody']): string {
  if (body === undefined) return '';
  const text = body.description === undefined ? '' : `<p>${prose(body.description)}</p>`;
  return `<h4>Body</h4>${text}<ul>${renderContent(body.content)}</ul>`;
}

function renderResponses(responses: ApiOperation['responses'], document: ApiDocument): string {
  const rows = Object.entries(responses).map(([status, response]) => {
    const shared = document.components.responses[response.$ref?.split('/').at(-1) ?? ''];
    const description = response.description ?? shared?.description ?? '';
    const content = response.content === undefined ? '' : `<ul>${renderContent(response.content)}</ul>`;
    return `<tr><td><code>${html(status)}</code></td><td>${prose(description)}${content}</td></tr>`;
  });
  return `<h4>Answers</h4><table>${rows.join('')}</table>`;
}

function renderContent(content: ApiContent): string {
  return Object.entries(content)
    .map(([type, { schema }]) => {
      const name = typeof schema?.['$ref'] === 'string' ? schema['$ref'].split('/').at(-1) : undefined;
      const link = name === undefined ? '' : `: <a href="#schema-${html(name)}">${html(name)}</a>`;
      return `<li><code>${html(type)}</code>${link}</li>`;
    })
    .join('');
}

function code(value: unknown): string {
  return `<pre>${html(JSON.stringify(value, null, 2))}</pre>`;
}

/** Text in which `code` is marked with backticks. */
function prose(text: string): string {
  return html(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

function html(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
