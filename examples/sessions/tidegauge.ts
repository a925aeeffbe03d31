import { answer, create, edit, type Project, run, type Session, say, user, wait } from '../session.ts';

/** Firmware of a tide gauge: Rust, first built with make, later with just. Its user writes German. */
const project: Project = {
  name: 'tidegauge',
  cwd: '/home/robin/src/tidegauge',
  repository: 'git@github.com:quayside/tidegauge.git',
  branch: 'main',
  commit: '9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d1a2b3c4d',
  rules: '',
  timezone: 'Europe/Berlin',
};

const NO_TARGET =
  "error[E0463]: can't find crate for `core`\n  |\n  = note: the `thumbv7em-none-eabihf` target may not be installed\n" +
  'error: could not compile `cortex-m` (lib) due to 1 previous error\n';

const checksum: Session = {
  key: 'tidegauge-checksum',
  project,
  format: { agent: 'codex-bare' },
  startedAt: '2026-10-02T16:20:05.310Z',
  steps: [
    user('Der Parser nimmt NMEA-Sätze mit falscher Prüfsumme an. Bitte beheben und einen Test dazu schreiben.'),
    run(
      'ls src && cat src/nmea.rs',
      0,
      "main.rs\nnmea.rs\npub fn parse(line: &str) -> Option<Sentence> {\n    let (body, _sum) = line.split_once('*')?;\n    Sentence::read(body)\n}\n",
    ),
    say('Die Prüfsumme wird abgetrennt, aber nie verglichen.'),
    edit('src/nmea.rs', [
      "-    let (body, _sum) = line.split_once('*')?;",
      "+    let (body, sum) = line.split_once('*')?;",
      '+    if checksum(body) != u8::from_str_radix(sum, 16).ok()? {',
      '+        return None;',
      '+    }',
    ]),
    run('cargo test nmea', 101, NO_TARGET),
    user('Bitte nicht cargo direkt aufrufen, sondern immer `make test`, das Makefile setzt das richtige Ziel.'),
    run(
      'make test',
      2,
      'error[E0425]: cannot find function `checksum` in this scope\n --> src/nmea.rs:3:8\nmake: *** [Makefile:9: test] Error 101\n',
    ),
    edit('src/nmea.rs', [
      '+fn checksum(body: &str) -> u8 {',
      "+    body.trim_start_matches('$').bytes().fold(0, |sum, byte| sum ^ byte)",
      '+}',
    ]),
    run(
      'make test',
      0,
      'running 12 tests\ntest nmea::refuses_wrong_checksum ... ok\ntest result: ok. 12 passed; 0 failed\n',
    ),
    answer('Sätze mit falscher Prüfsumme werden jetzt verworfen, ein Test deckt es ab. Alle 12 Tests laufen.'),
    user('Danke, passt.'),
    answer('Gern.'),
  ],
};

const firmware: Session = {
  key: 'tidegauge-firmware',
  project,
  format: { agent: 'codex', version: '0.110.0', model: 'gpt-5.3-codex', originator: 'codex_cli_rs' },
  startedAt: '2026-10-13T09:02:11.450Z',
  steps: [
    user('Baue die Firmware und sag mir, wie groß das Abbild ist.'),
    run('cargo build --release', 101, NO_TARGET),
    user('Immer `make build` verwenden, nie cargo direkt.'),
    run('make build', 2, `${NO_TARGET}make: *** [Makefile:5: build] Error 101\n`),
    say('Das Ziel fehlt auf dieser Maschine.'),
    run(
      'rustup target add thumbv7em-none-eabihf',
      0,
      "info: downloading component 'rust-std' for 'thumbv7em-none-eabihf'\n",
    ),
    run('make build', 0, '    Finished `release` profile [optimized] target(s) in 21.40s\nimage: 48216 bytes\n'),
    answer('Das Abbild hat 48216 Bytes. Vorher fehlte das Rust-Ziel thumbv7em-none-eabihf.'),
    user('Gut. Und der Messtakt soll 5 Sekunden statt 10 Sekunden sein.'),
    run('rg -n "INTERVAL" src', 0, 'src/main.rs:14:const INTERVAL_SECONDS: u32 = 10;\n'),
    edit('src/main.rs', ['-const INTERVAL_SECONDS: u32 = 10;', '+const INTERVAL_SECONDS: u32 = 5;']),
    run('make test', 0, 'test result: ok. 14 passed; 0 failed\n'),
    answer('Der Messtakt ist 5 Sekunden, alle 14 Tests laufen.'),
    user('Commit-Nachrichten bitte ohne Emojis.'),
    run('git commit -qam "Messtakt auf 5 Sekunden"', 0, ''),
    answer('Erledigt.'),
  ],
};

const toJust: Session = {
  key: 'tidegauge-to-just',
  project: { ...project, commit: '1c9d4f0a77b25e3c6d8e9f0a1b2c3d4e5f6a7b8c' },
  format: { agent: 'codex', version: '0.145.0', model: 'gpt-5.6-sol', originator: 'codex-tui' },
  startedAt: '2026-11-04T10:15:58.002Z',
  steps: [
    user('Der Drucksensor liefert seit gestern Sprünge von über einem Meter. Bitte filtern: Median über fünf Werte.'),
    say('Ich sehe mir den Sensorcode an und baue zuerst einmal.'),
    run('make build', 2, "make: *** No rule to make target 'build'.  Stop.\n"),
    user('Wir sind auf just umgestiegen: ab jetzt `just build` statt `make build`, das Makefile gibt es nicht mehr.'),
    run('just build', 0, '    Finished `release` profile [optimized] target(s) in 20.02s\nimage: 48840 bytes\n'),
    create(
      'src/median.rs',
      '/// Median of the last five values.\npub fn median(mut values: [i32; 5]) -> i32 {\n    values.sort_unstable();\n    values[2]\n}\n',
    ),
    edit('src/sensor.rs', ['-    self.level = raw;', '+    self.level = median(self.window.push(raw));']),
    run(
      'just test',
      101,
      'error[E0432]: unresolved import `crate::median`\n --> src/sensor.rs:3:5\nerror: Recipe `test` failed on line 8 with exit code 101\n',
    ),
    edit('src/main.rs', [' mod nmea;', '+mod median;']),
    run('just test', 0, 'test result: ok. 17 passed; 0 failed\n'),
    run('just build', 0, '    Finished `release` profile [optimized] target(s) in 22.71s\nimage: 49104 bytes\n'),
    answer('Der Pegel ist jetzt der Median der letzten fünf Werte. 17 Tests laufen, das Abbild hat 49104 Bytes.'),
    user('Super, danke! Bitte keine Emojis in Commit-Nachrichten, und eine Änderung je Commit.'),
    wait(2),
    run('git add src && git commit -qm "Median gegen Sprünge des Drucksensors"', 0, ''),
    answer('Ein Commit, ohne Emojis.'),
  ],
};

export const TIDEGAUGE: readonly Session[] = [checksum, firmware, toJust];
