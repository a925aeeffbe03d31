import { answer, create, edit, type Project, run, type Session, say, user } from '../session.ts';
import { FAKE_OPENAI_KEY } from './fake-secrets.ts';

/** Daily statistics of light buoys: Python, uv. Its user writes Japanese, sometimes English. */
const project: Project = {
  name: 'lantern',
  cwd: '/home/robin/src/lantern',
  repository: 'ssh://git@github.com/quayside/lantern.git',
  branch: 'main',
  commit: '0e4f6a2b8c1d3e5f7a9b0c2d4e6f8091a3b5c7d9',
  rules: '',
  timezone: 'Asia/Tokyo',
};

const NO_POLARS =
  "ImportError while importing test module 'tests/test_daily.py'.\nE   ModuleNotFoundError: No module named 'polars'\n" +
  '=========================== 1 error in 0.11s ===========================\n';

const missingDays: Session = {
  key: 'lantern-missing-days',
  project,
  format: { agent: 'codex', version: '0.144.4', model: 'gpt-5.6-sol', originator: 'codex-tui' },
  startedAt: '2026-10-20T01:10:27.600Z',
  steps: [
    user('日次集計で欠測日が落ちています。欠測日も0件として出力するように直してください。'),
    say('まず集計のコードとテストを確認します。'),
    run(
      "sed -n '1,30p' lantern/daily.py",
      0,
      'import polars as pl\n\n\ndef daily(frame: pl.DataFrame) -> pl.DataFrame:\n    return frame.group_by("day").len()\n',
    ),
    run('pytest tests/test_daily.py', 2, NO_POLARS),
    run('pip install polars', 1, 'error: externally-managed-environment\n\n× This environment is externally managed\n'),
    user('pip は使わないでください。このリポジトリでは常に uv を使ってください。'),
    run('uv sync', 0, 'Resolved 31 packages in 12ms\nInstalled 29 packages in 88ms\n'),
    run(
      'uv run pytest tests/test_daily.py',
      0,
      'tests/test_daily.py ......                                     [100%]\n6 passed in 0.41s\n',
    ),
    edit('lantern/daily.py', [
      '-    return frame.group_by("day").len()',
      '+    days = pl.date_range(frame["day"].min(), frame["day"].max(), eager=True)',
      '+    counted = frame.group_by("day").len()',
      '+    return days.to_frame("day").join(counted, on="day", how="left").fill_null(0)',
    ]),
    run(
      'uv run pytest tests/test_daily.py',
      1,
      'E       polars.exceptions.SchemaError: datatypes of join keys do not match\n1 failed, 5 passed in 0.44s\n',
    ),
    edit('lantern/daily.py', [
      '-    counted = frame.group_by("day").len()',
      '+    counted = frame.group_by(pl.col("day").cast(pl.Date)).len()',
    ]),
    run(
      'uv run pytest tests/test_daily.py',
      0,
      'tests/test_daily.py .......                                    [100%]\n7 passed in 0.43s\n',
    ),
    run('uv run ruff check .', 0, 'All checks passed!\n'),
    answer('欠測日も 0 件として出力されます。原因は結合キーの型の違いでした。7 件のテストが通ります。'),
    user('ありがとう。コミットメッセージは英語で書いてください。'),
    run('git commit -qam "Count missing days as zero"', 0, ''),
    answer('英語のメッセージでコミットしました。'),
  ],
};

const timezones: Session = {
  key: 'lantern-timezones',
  project,
  format: { agent: 'claude', version: '2.1.220', model: 'claude-opus-4-6', title: '時刻帯の修正' },
  startedAt: '2026-11-12T00:31:09.015Z',
  steps: [
    user('点灯時刻がUTCのまま表示されています。日本時間で表示してください。'),
    run('pytest tests/test_report.py', 2, NO_POLARS.replaceAll('daily', 'report')),
    say('uv の環境で実行します。'),
    run(
      'uv run pytest tests/test_report.py',
      0,
      'tests/test_report.py ....                                      [100%]\n4 passed in 0.38s\n',
    ),
    edit('lantern/report.py', [
      '-    return row.lit_at.isoformat()',
      '+    return row.lit_at.astimezone(JST).isoformat()',
    ]),
    run(
      'uv run pytest tests/test_report.py',
      1,
      "E       NameError: name 'JST' is not defined\n1 failed, 3 passed in 0.40s\n",
    ),
    edit('lantern/report.py', [
      ' import polars as pl',
      '+from zoneinfo import ZoneInfo',
      '+',
      '+JST = ZoneInfo("Asia/Tokyo")',
    ]),
    run(
      'uv run pytest tests/test_report.py',
      0,
      'tests/test_report.py ....                                      [100%]\n4 passed in 0.39s\n',
    ),
    answer('点灯時刻を日本時間で表示するようにしました。'),
    user('違います。保存はUTCのままにして、表示だけ日本時間にしてください。'),
    run(
      'rg -n "astimezone" lantern',
      0,
      'lantern/report.py:21:    return row.lit_at.astimezone(JST).isoformat()\nlantern/store.py:9:    lit_at = lit_at.astimezone(JST)\n',
    ),
    edit('lantern/store.py', ['-    lit_at = lit_at.astimezone(JST)', '+    lit_at = lit_at.astimezone(UTC)']),
    run('uv run pytest', 0, '31 passed in 1.92s\n'),
    answer('保存は UTC、表示だけ日本時間です。31 件のテストが通ります。'),
    user('完璧です、ありがとう。'),
    answer('どういたしまして。'),
  ],
};

const chartExport: Session = {
  key: 'lantern-chart-export',
  project: { ...project, branch: 'chart-export' },
  format: { agent: 'codex', version: '0.146.0', model: 'gpt-5.6-sol', originator: 'codex-tui' },
  startedAt: '2026-11-17T23:48:12.300Z',
  steps: [
    user(
      'Export the monthly chart as SVG next to the PNG. Always show me the plan before you change more than three files.',
    ),
    answer('Plan: one new function in lantern/chart.py, one flag in lantern/cli.py, one test. Three files.'),
    user('ok, go ahead'),
    run(
      'uv run pytest tests/test_chart.py',
      0,
      'tests/test_chart.py ..                                         [100%]\n2 passed in 0.52s\n',
    ),
    create(
      'tests/test_svg.py',
      'def test_svg_has_a_title(tmp_path):\n    assert "<title>" in export_svg(tmp_path / "month.svg")\n',
    ),
    edit('lantern/chart.py', [
      '+def export_svg(path: Path) -> str:',
      '+    figure.savefig(path, format="svg")',
      '+    return path.read_text()',
    ]),
    run(
      'uv run lantern chart --svg',
      1,
      `Traceback (most recent call last):\n  File "lantern/caption.py", line 8, in caption\nopenai.AuthenticationError: Incorrect API key provided: ${FAKE_OPENAI_KEY}\n`,
    ),
    say('The caption asks a model. The command has a flag to leave it out.'),
    run('uv run lantern chart --svg --no-caption', 0, 'wrote out/2026-10.png\nwrote out/2026-10.svg\n'),
    run(
      'uv run pytest tests/test_svg.py',
      1,
      "E       AssertionError: assert '<title>' in '<svg'\n1 failed in 0.51s\n",
    ),
    edit('lantern/chart.py', [
      '-    figure.savefig(path, format="svg")',
      '+    figure.savefig(path, format="svg", metadata={"Title": title})',
    ]),
    run(
      'uv run pytest tests/test_svg.py',
      0,
      'tests/test_svg.py .                                            [100%]\n1 passed in 0.50s\n',
    ),
    answer('lantern chart --svg writes out/<month>.svg beside the PNG. The SVG has a title.'),
    user("That's still wrong: the file must be named like the PNG, with the month in front. Please fix it."),
    run('ls out', 0, '2026-10.png\n2026-10.svg\n'),
    answer('It is: out/2026-10.png and out/2026-10.svg.'),
    user('You are right, I looked into the wrong folder. Thanks!'),
    answer('No problem.'),
  ],
};

const question: Session = {
  key: 'lantern-question',
  project,
  format: { agent: 'codex', version: '0.110.0', model: 'gpt-5.3-codex', originator: 'codex_cli_rs' },
  startedAt: '2026-11-18T02:05:40.870Z',
  steps: [
    user('What does lantern/window.py do?'),
    run(
      'cat lantern/window.py',
      0,
      'def windows(values, size):\n    for at in range(len(values) - size + 1):\n        yield values[at : at + size]\n',
    ),
    run('rg -n "windows\\(" lantern', 0, 'lantern/daily.py:40:    for part in windows(values, 7):\n'),
    answer('It yields every run of `size` neighbouring values; daily.py uses it for the seven-day mean.'),
    user('And what happens with fewer values than the size?'),
    answer('Then the range is empty and nothing is yielded.'),
    user('ok'),
    answer('Anything else?'),
  ],
};

/** Outside any repository, and over before it began. */
const greeting: Session = {
  key: 'greeting',
  project: { ...project, name: 'scratch', cwd: '/home/robin/scratch', repository: null, timezone: 'Europe/Berlin' },
  format: { agent: 'codex', version: '0.145.0', model: 'gpt-5.6-sol', originator: 'codex-tui' },
  startedAt: '2026-11-19T18:22:01.000Z',
  steps: [user('hi'), answer('Hello. What shall we work on?'), user('nothing yet'), answer('All right.')],
};

export const LANTERN: readonly Session[] = [missingDays, timezones, chartExport, question, greeting];
