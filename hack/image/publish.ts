import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {z} from 'zod';
import {CommandFailed, run} from '../cluster/command.ts';
import {step} from '../progress.ts';
import {ROOT} from './build.ts';
import type {Destination} from './destination.ts';
import {buildImage, connectionTo, type Target} from './image.ts';
import {runtimeImage} from './plans.ts';

const Package = z.object({version: z.string()});

/** Builds the image of the product, pushes it and returns its reference by digest. */
export async function publish(
  {registry, repository, insecure}: Destination,
  tools: Pick<Target, 'crane' | 'cache'>,
): Promise<string> {
  const target = {...tools, registry, trusted: !insecure};
  try {
    return await step(`image ${registry}/${repository}`, async () => {
      const reference = await buildImage({...runtimeImage(ROOT), repository}, target);
      await tagForGood(reference, target);
      return reference;
    });
  } catch (error) {
    if (error instanceof CommandFailed && error.message.startsWith(target.crane))
      throw new Error(refusalOf(error, `${registry}/${repository}`, target), {cause: error});
    throw error;
  }
}

/** The next push takes the tag that was pushed to away, and many registries remove in time what has no tag. */
async function tagForGood(reference: string, target: Target): Promise<void> {
  const {version} = Package.parse(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')));
  const digits = reference.slice(reference.indexOf('@sha256:') + '@sha256:'.length);
  await run(target.crane, ['tag', ...connectionTo(target), reference, `${version}-${digits.slice(0, 12)}`]);
}

function refusalOf({stderr}: CommandFailed, repository: string, {crane, registry, trusted}: Target): string {
  const reason = /^Error: (.*)$/m.exec(stderr)?.[1] ?? stderr.trim().slice(-500);
  return [
    `${repository} cannot be pushed to: ${reason}`,
    'What may help, then run the same command again:',
    `- the registry asks who you are: docker login ${registry}, or ${crane} auth login ${registry} -u <user> --password-stdin`,
    '- it makes no repository by itself: create this one there, and let your user push to it',
    ...(trusted ? ['- it has no TLS, or a certificate that this machine does not trust: add --insecure'] : []),
  ].join('\n');
}
