import type { Command } from 'commander';
import { DEFAULT_SETTINGS, LIMITS } from '../core/settings.ts';
import { type InspectedEvidence, type InspectedFacts, type Inspection, inspectRollout } from '../local/inspect.ts';
import { type Console, formatTable, printable, printResult } from './console.ts';
import { parseWhole } from './options.ts';

/** `inspect`: what one rollout holds, without a home and without a model. */
export function addInspectCommand(program: Command, console: () => Console): void {
  program
    .command('inspect')
    .description('what a session transcript holds, what would be made of it, and why; nothing is stored')
    .argument('<file>', 'a transcript, also compressed')
    .option('--evidence', 'also print the exact evidence that would be sent', false)
    .option('--budget <tokens>', 'budget of the evidence', parseWhole(1, 10_000_000), LIMITS.evidenceFallbackTokens)
    .action(async (path: string, options: { evidence: boolean; budget: number }) => {
      const inspection = await inspectRollout({
        path,
        budgetTokens: options.budget,
        withText: options.evidence,
        settings: DEFAULT_SETTINGS,
        now: Date.now(),
      });
      printResult(console(), inspection, () => printable(formatInspection(inspection)));
    });
}

function formatInspection(inspection: Inspection): string {
  const { facts, records, evidence } = inspection;
  const why = inspection.outcome_detail === null ? '' : `: ${inspection.outcome_detail}`;
  const sections = [
    `${oneLine(inspection.file)}\noutcome if run now: ${inspection.outcome}${oneLine(why)}`,
    facts === null ? '' : formatFacts(facts),
    records === null ? '' : formatRecords(records),
    evidence === null ? '' : formatEvidence(evidence),
    formatCounts('secrets redacted', inspection.redactions),
    evidence?.text ? `EVIDENCE\n${evidence.text.trimEnd()}` : '',
  ];
  return sections.filter((section) => section !== '').join('\n\n');
}

function formatFacts(facts: InspectedFacts): string {
  const { external_context: external, ...plain } = facts;
  const looked = [
    external.web_search ? 'web search' : '',
    external.tool_search ? 'tool search' : '',
    ...external.mcp_servers.map((server) => `MCP ${server}`),
  ].filter((each) => each !== '');
  const rows = Object.entries(plain).map(([name, value]) => [
    `  ${name.replaceAll('_', ' ')}`,
    value === null ? '-' : oneLine(String(value)),
  ]);
  return `FACTS\n${formatTable([...rows, ['  external context', looked.map(oneLine).join(', ') || '-']])}`;
}

function formatRecords(records: NonNullable<Inspection['records']>): string {
  const notes = [
    `${records.total} in ${records.bytes} bytes`,
    records.broken_lines > 0 ? `${records.broken_lines} broken lines` : '',
    records.oversized > 0 ? `${records.oversized} oversized` : '',
    records.torn_tail ? 'torn tail' : '',
  ].filter((note) => note !== '');
  const rows = records.kinds.map((row) => [
    `  ${oneLine(row.kind)}`,
    String(row.seen),
    String(row.dropped),
    row.why ?? '',
  ]);
  return `RECORDS (${notes.join(', ')})\n${formatTable([['  KIND', 'SEEN', 'DROPPED', 'WHY'], ...rows])}`;
}

function formatEvidence(evidence: InspectedEvidence): string {
  const rows = evidence.tiers.map((tier) => [
    `  ${tier.tier}`,
    String(tier.items),
    String(tier.rows),
    String(tier.bytes),
  ]);
  const { found, kept } = evidence.failed_then_passed;
  const head = `${evidence.bytes} bytes, about ${evidence.tokens} of ${evidence.budget_tokens} tokens`;
  const pairs = `commands that failed and later passed: ${kept} of ${found} whole`;
  const marks = formatCounts('left out of rows', evidence.marks);
  const table = formatTable([['  TIER', 'ITEMS', 'ROWS', 'BYTES'], ...rows]);
  return [`EVIDENCE BY TIER (${head})\n${table}`, pairs, marks].filter((part) => part !== '').join('\n');
}

function formatCounts(title: string, counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts).sort(([left], [right]) => (left < right ? -1 : 1));
  return entries.length === 0 ? '' : `${title}: ${entries.map(([kind, count]) => `${kind} ${count}`).join(', ')}`;
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}
