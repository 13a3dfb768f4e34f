import {readFileSync} from 'node:fs';
import {basename, dirname, join, normalize} from 'node:path';
import {describe, expect, it} from 'vitest';
import * as meta from '../src/api/meta.ts';
import {BANNED_NAMES, LAYERS, NARROW, ONE_IMPORTER, SIZE} from './architecture/laws.ts';
import {filesBelow, importsOf, layerOf, ROOT, type Source, sourcesBelow} from './architecture/sources.ts';

const isTest = (path: string) => path.endsWith('.test.ts');
const all = sourcesBelow('src', 'hack', 'examples', 'test');
const product = all.filter((source) => source.path.startsWith('src/') && !isTest(source.path));

function layerTarget(source: Source, specifier: string): string | undefined {
  return specifier.startsWith('.') ? layerOf(normalize(join(dirname(source.path), specifier))) : undefined;
}

function allowsPackage(allowed: readonly string[], specifier: string): boolean {
  return allowed.some((name) =>
    name.endsWith('*')
      ? specifier.startsWith(name.slice(0, -1))
      : specifier === name || specifier.startsWith(`${name}/`),
  );
}

describe('imports', () => {
  it('every folder below src is a layer of the table', () => {
    expect([...new Set(product.map((source) => layerOf(source.path)))].filter((layer) => !(layer in LAYERS))).toEqual(
      [],
    );
  });

  it('a layer imports only the layers that the table allows', () => {
    const wrong = product.flatMap((source) => {
      const own = layerOf(source.path);
      return importsOf(source)
        .filter((specifier) => {
          const target = layerTarget(source, specifier);
          return target !== undefined && target !== own && !LAYERS[own]?.layers.includes(target);
        })
        .map((specifier) => `${source.path} imports ${specifier}`);
    });
    expect(wrong).toEqual([]);
  });

  it('a layer uses only the packages that the table allows', () => {
    const wrong = product.flatMap((source) =>
      importsOf(source)
        .filter((specifier) => !specifier.startsWith('.'))
        .filter((specifier) => !allowsPackage(LAYERS[layerOf(source.path)]?.packages ?? [], specifier))
        .map((specifier) => `${source.path} imports ${specifier}`),
    );
    expect(wrong).toEqual([]);
  });

  it.each(Object.entries(NARROW))('files below %s import only what the table allows', (folder, allowed) => {
    const own = product.filter((source) => source.path.startsWith(folder));
    expect(own.length).toBeGreaterThan(0);
    const wrong = own.flatMap((source) =>
      importsOf(source)
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => normalize(join(dirname(source.path), specifier)))
        .filter((target) => !allowed.some((one) => (one.endsWith('/') ? target.startsWith(one) : target === one)))
        .map((target) => `${source.path} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it.each(ONE_IMPORTER)('%s is imported by one file at most', (name) => {
    const importers = product.filter((source) => importsOf(source).some((specifier) => name.test(specifier)));
    expect(importers.map((source) => source.path).slice(1)).toEqual([]);
  });

  it('relative imports name the file with its .ts ending', () => {
    const wrong = all.flatMap((source) =>
      importsOf(source)
        .filter((specifier) => specifier.startsWith('.') && !/\.(ts|json)$/.test(specifier))
        .map((specifier) => `${source.path} imports ${specifier}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe('sizes', () => {
  const judged = all.filter((source) => !isTest(source.path));

  it(`no file has more than ${SIZE.most} lines`, () => {
    const wrong = judged.filter((source) => source.lines > SIZE.most);
    expect(wrong.map((source) => `${source.path}: ${source.lines}`)).toEqual([]);
  });

  it(`half of the files have at most ${SIZE.median} lines`, () => {
    const sizes = judged.map((source) => source.lines).sort((a, b) => a - b);
    expect(sizes[Math.floor(sizes.length / 2)] ?? 0).toBeLessThanOrEqual(SIZE.median);
  });
});

describe('names', () => {
  it('files and folders are kebab-case', () => {
    const wrong = all.filter((source) =>
      source.path.split('/').some((part) => !/^[a-z0-9]+([-.][a-z0-9]+)*$/.test(part)),
    );
    expect(wrong.map((source) => source.path)).toEqual([]);
  });

  it('no file, folder or exported name is one that says nothing', () => {
    const banned = new Set<string>(BANNED_NAMES);
    const paths = all.filter((source) => source.path.split('/').some((part) => banned.has(basename(part, '.ts'))));
    const names = all.filter((source) =>
      /export (?:const|function|class|interface|type) \w*(?:Utils?|Helpers?|Manager|Misc)\b/.test(source.text),
    );
    expect([...paths, ...names].map((source) => source.path)).toEqual([]);
  });
});

describe('texture', () => {
  it('only config reads process.env; bin hands it over as a whole', () => {
    const wrong = product.filter((source) => {
      const layer = layerOf(source.path);
      const read = layer === 'bin' ? /process\.env[.[]/ : /process\.env\b/;
      return layer !== 'config' && read.test(withoutComments(source.text));
    });
    expect(wrong.map((source) => source.path)).toEqual([]);
  });

  it('only src/api/meta.ts spells labels, annotations and field managers', () => {
    const names = Object.entries(meta).flatMap(([name, value]) =>
      /^(LABEL|ANNOTATION)_/.test(name) && typeof value === 'string' ? [value] : [],
    );
    expect(names.length).toBeGreaterThan(5);
    const wrong = product
      .filter((source) => source.path !== 'src/api/meta.ts')
      .filter(({text}) => {
        const code = withoutComments(text);
        return names.some((name) => code.includes(name)) || /fieldManager: ['"`]/.test(code);
      });
    expect(wrong.map((source) => source.path)).toEqual([]);
  });

  it('no test waits for a second and no longer, as vitest does of itself', () => {
    const own = new Set(['test/support/eventually.ts', 'test/support/release.ts', 'test/architecture.test.ts']);
    const wrong = all.filter(({path, text}) => !own.has(path) && /\bvi\.wait(For|Until)\(/.test(text));
    expect(wrong.map((source) => source.path)).toEqual([]);
  });

  it('decisions read no clock and throw no dice', () => {
    const impure = /Date\.now\(|new Date\(\)|Math\.random\(|randomUUID\(|randomBytes\(|console\./;
    const wrong = product.filter(
      (source) => ['api', 'domain'].includes(layerOf(source.path)) && impure.test(withoutComments(source.text)),
    );
    expect(wrong.map((source) => source.path)).toEqual([]);
  });

  it('every exported function and class says in a comment what it is for', () => {
    const wrong = product.flatMap((source) => {
      const lines = source.text.split('\n');
      return lines.flatMap((line, at) => {
        if (!/^export (?:async )?(?:function|class) /.test(line)) return [];
        const before = lines[at - 1] ?? '';
        const overload = before.startsWith('export ');
        return overload || /\*\/$|^\s*\/\//.test(before) ? [] : [`${source.path}:${at + 1} ${line.slice(0, 60)}`];
      });
    });
    expect(wrong).toEqual([]);
  });

  it('nothing is left to do, and nothing speaks of the machine it was written on', () => {
    const folders = ['src', 'hack', 'examples', 'test', 'docs', 'charts', 'crds'];
    const paths = filesBelow(folders, ['.ts', '.mjs', '.md', '.yaml', '.json', '.sh', '.tpl', '.txt']);
    // Written in two parts, or this file would find itself.
    const words = [`TO${'DO'}`, `FIX${'ME'}`, `\\.\\./sha${'red'}/`, `/wo${'rk'}/(?:main|sha${'red'})`];
    const leftOver = new RegExp(words.map((word) => `(?<![A-Za-z])${word}`).join('|'));
    expect(paths.filter((path) => leftOver.test(readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
  });
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '');
}
