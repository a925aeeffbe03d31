import { FAULTS, type Fault } from './fault-point.ts';
import type { Row } from './matrix.ts';

/** The matrix for a person: a row a kind of call, a column a fault, and below it what broke. */
export function printMatrix(rows: readonly Row[]): string {
  const width = Math.max(...rows.map((row) => row.name.length), 4);
  const widths = FAULTS.map((fault) => Math.max(fault.length, 7));
  const line = (name: string, count: string, cells: readonly string[]): string =>
    [name.padEnd(width), count.padStart(5), ...cells.map((cell, at) => cell.padEnd(widths[at] ?? 0))]
      .join('  ')
      .trimEnd();
  const table = rows.map((row) =>
    line(
      row.name,
      String(row.calls),
      FAULTS.map((fault) => cellOf(row, fault)),
    ),
  );
  return [line('call', 'calls', FAULTS), ...table, '', ...brokenCells(rows)].join('\n');
}

function cellOf(row: Row, fault: Fault): string {
  const ends = row.cells[fault];
  if (ends === undefined) return '-';
  const broken = ends.filter((end) => end.faults.length > 0).length;
  return broken === 0 ? 'ok' : `${broken}/${ends.length} broke`;
}

function brokenCells(rows: readonly Row[]): readonly string[] {
  return rows.flatMap((row) =>
    FAULTS.flatMap((fault) => row.cells[fault] ?? []).flatMap(({ name, number, fault, faults }) =>
      faults.length === 0 ? [] : [`${name} #${number + 1} ${fault}: ${faults.join('; ')}`],
    ),
  );
}
