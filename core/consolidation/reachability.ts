import { GLOBAL_SCOPE, OLDER_TOPICS, type SummaryDocument, TOPICS_SECTION } from '../memory/summary-document.ts';
import { LIMITS } from '../settings.ts';
import { decodeUtf8 } from '../text.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import type { ArtifactFault } from './artifact-fault.ts';
import type { MemoryDocument } from './memory-document.ts';
import { MEMORY_PATH, SKILLS_FOLDER, SUMMARY_PATH } from './output-paths.ts';

/** Above this share of its limit a summary has no room for every task group; a search of MEMORY.md finds the others. */
const FULL_SHARE = 0.85;

/**
 * What no reader would come upon (user case A26): a task group that no topic of the summary names (one that rests on notes alone
 * may stand by itself: what is left after sessions were forgotten), a file of a skill that its
 * SKILL.md does not name. And a project of the summary that nothing belongs to: no reader of any project is shown it.
 * Rollout summaries need no gate: `raw_memories.md`, made by rules, names each one.
 *
 * @param projects scope keys of the inputs
 */
export function findUnreachable(
  tree: FileTree,
  memory: MemoryDocument,
  summary: SummaryDocument,
  projects: ReadonlySet<string>,
): readonly ArtifactFault[] {
  return [
    ...findUnnamedGroups(memory, summary, tree.get(SUMMARY_PATH)?.length ?? 0),
    ...findForeignProjects(memory, summary, projects),
    ...findUnnamedSkillFiles(tree),
  ];
}

function findUnnamedGroups(
  memory: MemoryDocument,
  summary: SummaryDocument,
  summaryBytes: number,
): readonly ArtifactFault[] {
  if (summaryBytes > LIMITS.summaryFileBytes * FULL_SHARE) return [];
  const named = new Map<string, string>();
  for (const topic of summary.topics) {
    const project = topic.project ?? '';
    named.set(project, `${named.get(project) ?? ''}\n${fold(`${topic.title} ${topic.desc ?? ''}`)}`);
  }
  const all = [...named.values()].join('\n');
  return memory.groups
    .filter((group) => {
      const places =
        group.project === GLOBAL_SCOPE || group.project === '*'
          ? all
          : `${named.get(group.project) ?? ''}\n${named.get(GLOBAL_SCOPE) ?? ''}`;
      return group.tasks.length > 0 && group.name !== '' && !places.includes(fold(group.name));
    })
    .map((group) => ({
      code: 'memory.unreachable',
      place: `${MEMORY_PATH}:${group.line}`,
      message: 'no topic of memory_summary.md names the task group',
      cure: 'write the name of the group into the `desc:` of a topic below its project in memory_summary.md',
    }));
}

function findForeignProjects(
  memory: MemoryDocument,
  summary: SummaryDocument,
  projects: ReadonlySet<string>,
): readonly ArtifactFault[] {
  const known = new Set([...projects, ...memory.groups.map((group) => group.project), GLOBAL_SCOPE, OLDER_TOPICS]);
  const headings = summary.blocks.filter(
    (block) => block.level === 3 && block.section === TOPICS_SECTION && !block.older,
  );
  const older = summary.topics.filter((topic) => topic.older && topic.project !== null);
  return [...headings, ...older]
    .filter(({ project }) => project !== null && project !== '' && !known.has(project))
    .map(({ line }) => ({
      code: 'summary.unknown_project',
      place: `${SUMMARY_PATH}:${line}`,
      message: 'the project is none of the inputs and has no task group',
      cure: 'copy the scope key of the project from the list of inputs, or remove the topic',
    }));
}

function findUnnamedSkillFiles(tree: FileTree): readonly ArtifactFault[] {
  const faults: ArtifactFault[] = [];
  for (const path of tree.keys()) {
    const [, name, file] = /^skills\/([^/]+)\/(.+)$/.exec(path) ?? [];
    if (name === undefined || file === undefined || file === 'SKILL.md') continue;
    const skill = tree.get(`${SKILLS_FOLDER}${name}/SKILL.md`);
    if (skill === undefined || decodeUtf8(skill).includes(file)) continue;
    faults.push({
      code: 'skill.unreachable',
      place: path,
      message: 'SKILL.md does not name the file',
      cure: 'say in SKILL.md what the file is for, by its path within the skill, or delete it',
    });
  }
  return faults;
}

function fold(text: string): string {
  return text.normalize('NFC').toLowerCase().replace(/\s+/g, ' ').trim();
}
