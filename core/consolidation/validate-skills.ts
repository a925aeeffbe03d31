import { LIMITS } from '../settings.ts';
import { decodeUtf8Strict, isBlank } from '../text.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import type { ArtifactFault } from './artifact-fault.ts';

const SKILLS_FOLDER = 'skills/';
const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** The gates for `skills/<name>/…` (prompts.md): a SKILL.md with name and description in each folder, text only, size caps. */
export function validateSkills(tree: FileTree): readonly ArtifactFault[] {
  const faults: ArtifactFault[] = [];
  const folders = new Set<string>();
  for (const [path, content] of tree) {
    if (!path.startsWith(SKILLS_FOLDER)) continue;
    const [name = '', ...rest] = path.slice(SKILLS_FOLDER.length).split('/');
    if (rest.length === 0) faults.push(misplaced(path));
    else folders.add(name);
    if (content.length > LIMITS.skillFileBytes) faults.push(tooLarge(path, content.length));
    const text = decodeUtf8Strict(content);
    if (text === undefined || text.includes('\u0000')) faults.push(notText(path));
  }
  for (const name of folders) faults.push(...validateSkill(name, tree));
  return faults;
}

function validateSkill(name: string, tree: FileTree): readonly ArtifactFault[] {
  const place = `${SKILLS_FOLDER}${name}/SKILL.md`;
  const content = tree.get(place);
  const cure = 'start it with `---`, `name: <folder name>`, `description: <one line>`, `---`';
  if (content === undefined)
    return [
      { code: 'skill.missing', place, message: 'the skill has no SKILL.md', cure: 'write it, or delete the folder' },
    ];
  const front = readFrontMatter(decodeUtf8Strict(content) ?? '');
  if (front === undefined) return [{ code: 'skill.no_front_matter', place, message: 'there is no front matter', cure }];
  const faults: ArtifactFault[] = [];
  if (front.get('name') !== name || !NAME.test(name)) {
    const message = 'the name is not that of the folder in lower-case words joined by hyphens';
    faults.push({ code: 'skill.name', place, message, cure });
  }
  if (isBlank(front.get('description')))
    faults.push({ code: 'skill.description', place, message: 'there is no description', cure });
  return faults;
}

/** The keys of a `---` block at the start; values lose one pair of quotes. */
function readFrontMatter(text: string): ReadonlyMap<string, string> | undefined {
  const block = /^---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text)?.[1];
  if (block === undefined) return undefined;
  const pairs = block.split(/\r?\n/).flatMap((line) => {
    const key = /^[a-z_]+(?=:)/.exec(line)?.[0];
    if (key === undefined) return [];
    return [
      [
        key,
        line
          .slice(key.length + 1)
          .trim()
          .replace(/^(["'])(.*)\1$/, '$2'),
      ] as const,
    ];
  });
  return new Map(pairs);
}

function misplaced(place: string): ArtifactFault {
  const message = 'a file directly below skills/';
  return { code: 'skill.misplaced', place, message, cure: 'move it to skills/<name>/SKILL.md, or delete it' };
}

function tooLarge(place: string, bytes: number): ArtifactFault {
  const message = `the file has ${bytes} bytes, ${LIMITS.skillFileBytes} are allowed`;
  return { code: 'file.too_large', place, message, cure: 'shorten it' };
}

function notText(place: string): ArtifactFault {
  return {
    code: 'file.not_text',
    place,
    message: 'the file is not UTF-8 text',
    cure: 'write it anew as text, or delete it',
  };
}
