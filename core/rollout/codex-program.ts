/** What a code-mode program calls: each is a member of `tools`. */
const TOOL_CALL = /\btools\s*(?:\.\s*|\[\s*["'`])([A-Za-z0-9_-]{1,200})/g;
const SERVER_IN_NAME = /^mcp__(.+?)__/;
const MAX_CALLS = 1_000;

/** The web searches and MCP servers that a program of the custom tool `exec` calls by name (DV-15). */
export function externalUse(program: string): { readonly webSearch: boolean; readonly mcpServers: readonly string[] } {
  const servers = new Set<string>();
  let webSearch = false;
  let calls = 0;
  for (const [, name = ''] of program.matchAll(TOOL_CALL)) {
    if (name.startsWith('web__') || name === 'web_search') webSearch = true;
    const server = SERVER_IN_NAME.exec(name)?.[1];
    if (server !== undefined) servers.add(server);
    if (++calls >= MAX_CALLS) break;
  }
  return { webSearch, mcpServers: [...servers] };
}
