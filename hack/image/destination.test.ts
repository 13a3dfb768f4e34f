import {describe, expect, it} from 'vitest';
import {readDestination} from './destination.ts';

const HOW = 'write npm run image -- <registry>/<repository>, for example npm run image -- registry.example/team/carrel';
const PARTS = `a registry (host or host:port), a slash and a repository are wanted; ${HOW}`;
const LETTERS = `which has lower-case letters and digits, . _ - between them, and / between its parts; ${HOW}`;

describe('where npm run image pushes to', () => {
  it.each([
    ['registry.example/carrel', 'registry.example', 'carrel'],
    ['registry.example/team-a/sub__team/carrel.v2', 'registry.example', 'team-a/sub__team/carrel.v2'],
    ['localhost/carrel', 'localhost', 'carrel'],
    ['registry:5000/team/carrel', 'registry:5000', 'team/carrel'],
    ['10.0.0.2:5000/carrel', '10.0.0.2:5000', 'carrel'],
    ['[fd00::2]:5000/carrel', '[fd00::2]:5000', 'carrel'],
  ])('%s is taken', (given, registry, repository) => {
    expect(readDestination([given])).toEqual({registry, repository, insecure: false});
    expect(readDestination(['--insecure', given])).toEqual({registry, repository, insecure: true});
  });

  it.each([
    ['nothing', [], `no repository is given; ${HOW}`],
    ['an empty word', [''], `no repository is given; ${HOW}`],
    ['an option alone', ['--insecure'], `no repository is given; ${HOW}`],
    ['an option that is none', ['--tag', 'a.b/c'], `--tag is not known, the only option is --insecure; ${HOW}`],
    ['two of them', ['a.b/c', 'd.e/f'], `one repository is wanted, not a.b/c and d.e/f; ${HOW}`],
    ['a URL', ['https://a.b/c'], `https://a.b/c: a repository has no scheme, leave out https://; ${HOW}`],
    [
      'a tag',
      ['a.b:5000/c:1'],
      `a.b:5000/c:1: the image gets a tag of its own and is installed by digest, leave out :1; ${HOW}`,
    ],
    ['a digest', ['a.b/c@sha256:0'], `a.b/c@sha256:0: the digest is what the build gives, leave out @sha256:0; ${HOW}`],
    ['a registry alone', ['registry.example'], `registry.example: ${PARTS}`],
    ['a registry and a slash', ['a.b/'], `a.b/: an empty repository is none, ${LETTERS}`],
    ['a repository without a registry', ['team/carrel'], `team/carrel: ${PARTS}`],
    ['a registry with a user', ['me:word/carrel'], `me:word/carrel: ${PARTS}`],
    ['capitals', ['a.b/Carrel'], `a.b/Carrel: Carrel is no repository, ${LETTERS}`],
    ['a blank', ['a.b/c d'], `a.b/c d: c d is no repository, ${LETTERS}`],
    ['a slash at the end', ['a.b/c/'], `a.b/c/: c/ is no repository, ${LETTERS}`],
  ])('%s is refused in words', (_, args, says) => {
    expect(() => readDestination(args)).toThrow(new Error(says));
  });
});
