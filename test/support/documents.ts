import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** Pages whose shell blocks people are told to run. */
export const RUN_PAGES: readonly string[] = ['README.md', ...below('docs'), 'examples/README.md'];

/** Every page of ours. */
export const ALL_PAGES: readonly string[] = [
  ...RUN_PAGES,
  'REVIEW.md',
  'CHANGELOG.md',
  'examples/agents/scripted/README.md',
  'hack/cluster/README.md',
];

/** A fenced block of a page. */
export interface Fence {
  readonly page: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
  /** First word after the fence. */
  readonly language: string;
  /** What follows the first word. */
  readonly note: string;
  readonly text: string;
}

/** Text of a page; its path is from the root of the repository. */
export function pageText(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

/** Fenced blocks of a page in order; throws when one is not closed. */
export function fencesOf(page: string): Fence[] {
  const fences: Fence[] = [];
  let open: {mark: string; line: number; info: string; lines: string[]} | undefined;
  for (const [at, line] of pageText(page).split('\n').entries()) {
    const mark = /^\s*(`{3,}|~{3,})(.*)$/.exec(line);
    if (open === undefined) {
      if (mark !== null) open = {mark: mark[1] ?? '', line: at + 1, info: (mark[2] ?? '').trim(), lines: []};
    } else if (line.trim() === open.mark) {
      const [language = '', ...rest] = open.info.split(' ');
      fences.push({page, line: open.line, language, note: rest.join(' ').trim(), text: open.lines.join('\n')});
      open = undefined;
    } else open.lines.push(line);
  }
  if (open !== undefined) throw new Error(`${page}:${open.line}: the block is not closed`);
  return fences;
}

/** Text of a page without its fenced blocks. */
export function proseOf(page: string): string {
  return pageText(page).replaceAll(/^\s*(`{3,}|~{3,})[\s\S]*?^\s*\1\s*$/gm, '');
}

/** Reason of a block that is not run or not checked; undefined when the note is none. */
export function reasonOf({language, note}: Fence): string | undefined {
  const word = language === 'sh' ? 'no-run' : 'no-check';
  return note.startsWith(`${word}: `) ? note.slice(word.length + 2).trim() : undefined;
}

function below(folder: string): string[] {
  return readdirSync(join(ROOT, folder), {withFileTypes: true})
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      if (entry.isDirectory()) return below(`${folder}/${entry.name}`);
      return entry.name.endsWith('.md') ? [`${folder}/${entry.name}`] : [];
    });
}
