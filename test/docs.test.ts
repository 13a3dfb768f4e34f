import {existsSync} from 'node:fs';
import {dirname, join, normalize} from 'node:path';
import {describe, expect, it} from 'vitest';
import {TURN_CODES} from '../src/domain/turn/codes.ts';
import {ALL_PAGES, fencesOf, pageText, proseOf, RUN_PAGES, reasonOf} from './support/documents.ts';
import {metricWords, vocabularies} from './support/page-words.ts';

const ROOT = join(import.meta.dirname, '..');
const fences = ALL_PAGES.flatMap(fencesOf);
const shell = fences.filter(({language}) => language === 'sh');

/** Blocks that are not run. A new one needs a reason, and this number. */
const NOT_RUN = 14;

describe('fenced blocks', () => {
  it('have a language that means something here; shell is always `sh`', () => {
    const known = ['sh', 'yaml', 'json', 'toml', 'ts', 'text'];
    const looksLikeShell = /^\s*(\$ |kubectl |helm |npm |npx |node |curl |export )/m;
    const wrong = fences.filter((f) => {
      if (f.language === '') return looksLikeShell.test(f.text);
      return !known.includes(f.language) || (f.language === 'text' && looksLikeShell.test(f.text));
    });
    expect(wrong.map((f) => `${f.page}:${f.line} ${f.language}`)).toEqual([]);
  });

  it('have no note, or one reason in words why they are not run or not checked', () => {
    const wrong = fences.filter((f) => f.note !== '' && (reasonOf(f)?.split(' ').length ?? 0) < 3);
    expect(wrong.map((f) => `${f.page}:${f.line} ${f.note}`)).toEqual([]);
  });

  it(`${NOT_RUN} of the shell are not run`, () => {
    const list = shell.flatMap((f) => (reasonOf(f) === undefined ? [] : [`${f.page}:${f.line}  ${reasonOf(f)}`]));
    process.stdout.write(
      `${shell.length - list.length} shell blocks are run, ${list.length} are not:\n  ${list.join('\n  ')}\n`,
    );
    expect(list).toHaveLength(NOT_RUN);
  });

  it('of shell stand only on pages that are run', () => {
    expect(shell.filter((f) => !RUN_PAGES.includes(f.page)).map((f) => `${f.page}:${f.line}`)).toEqual([]);
  });

  it('of JSON are JSON', () => {
    for (const {page, line, text} of fences.filter((f) => f.language === 'json')) {
      expect(() => JSON.parse(text), `${page}:${line}`).not.toThrow();
    }
  });
});

describe('links', () => {
  it('lead to a file, and to a heading of it', () => {
    const wrong = ALL_PAGES.flatMap((page) =>
      [...linked(page).matchAll(/\]\(([^)\s]+)\)/g)]
        .map((match) => match[1] ?? '')
        .filter((target) => !/^https?:/.test(target))
        .filter((target) => !resolves(page, target))
        .map((target) => `${page}: ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('reach every page from the README', () => {
    const seen = new Set<string>();
    const visit = (page: string): void => {
      if (seen.has(page)) return;
      seen.add(page);
      for (const [, target = ''] of linked(page).matchAll(/\]\(([^)\s#]+\.md)(?:#[^)]*)?\)/g)) {
        if (!/^https?:/.test(target)) visit(normalize(join(dirname(page), target)));
      }
    };
    visit('README.md');
    expect(ALL_PAGES.filter((page) => !seen.has(page))).toEqual([]);
  });
});

/** Prose without code, in which brackets are no links. */
function linked(page: string): string {
  return proseOf(page).replaceAll(/`[^`\n]+`/g, '');
}

function resolves(page: string, target: string): boolean {
  const [path = '', heading] = target.split('#');
  const file = path === '' ? page : normalize(join(dirname(page), path));
  if (!existsSync(join(ROOT, file))) return false;
  return heading === undefined || headingsOf(file).includes(heading);
}

/** Anchors as GitHub makes them. */
function headingsOf(page: string): string[] {
  return [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, text = '']) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

it('pages of kinds have one skeleton', () => {
  for (const page of RUN_PAGES.filter((p) => p.startsWith('docs/kinds/'))) {
    const headings = [...proseOf(page).matchAll(/^## (.+)$/gm)].map((match) => match[1]);
    expect(headings, page).toEqual(['Example', 'Writing one', 'Working with it', 'Status and conditions']);
  }
});

describe('what a page names exists', () => {
  const spans = ALL_PAGES.flatMap((page) =>
    [...proseOf(page).matchAll(/`([^`\n]+)`/g)].map((match) => ({page, span: match[1] ?? ''})),
  );

  it.each(vocabularies().map((v) => [v.what, v] as const))('%s', (_, {find, known}) => {
    const named = spans.flatMap(({page, span}) => find(span).map((word) => ({page, word})));
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter(({word}) => !known(word)).map(({page, word}) => `${page}: ${word}`)).toEqual([]);
  });

  it('each error code of a turn stands in the table of its page, and no other does', () => {
    const rows = pageText('docs/kinds/turn.md').split('\n');
    const table = rows.flatMap((line) => /^\| ((?:`[a-z_]+`(?:, )?)+) \|/.exec(line)?.[1] ?? []);
    const told = table.flatMap((cell) => cell.split(', ').map((code) => code.replaceAll('`', '')));
    // One code may stand for two phases.
    expect([...new Set(told)].sort()).toEqual([...TURN_CODES]);
  });

  it('metrics stand in the table of operations, with their labels and words', () => {
    const rows = metricWords().map(
      ({name, labels, help}) => `| \`${name}\` | ${labels.map((l) => `\`${l}\``).join(', ')} | ${help} |`,
    );
    const table = pageText('docs/operations.md')
      .split('\n')
      .filter((line) => /^\| `carrel_/.test(line));
    expect(table.sort()).toEqual(rows.sort());
  });
});
