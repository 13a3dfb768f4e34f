import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {type Images, ROOT} from '../image/build.ts';

/** Fills the image digests into `examples/first-session.yaml` and leaves it in `dist/`, where people can use it; returns the path. */
export async function renderExample(images: Images): Promise<string> {
  const template = await readFile(join(ROOT, 'examples/first-session.yaml'), 'utf8');
  const text = fillExample(template, images);
  const file = join(ROOT, 'dist/first-session.yaml');
  await mkdir(join(ROOT, 'dist'), {recursive: true});
  await writeFile(file, text);
  return file;
}

/** The template with its placeholders filled in, wherever they stand: a comment must be right without them. */
export function fillExample(template: string, images: Pick<Images, 'scriptedAgent' | 'workspace'>): string {
  const values: Record<string, string> = {
    SCRIPTED_AGENT_IMAGE: images.scriptedAgent,
    WORKSPACE_IMAGE: images.workspace,
  };
  return template.replaceAll(/\$\{([A-Z_]+_IMAGE)\}/g, (whole, name: string) => values[name] ?? whole);
}
