import {join} from 'node:path';
import {step} from '../progress.ts';
import {buildImage, type ImagePlan, type Target} from './image.ts';
import {busyboxImage, modelStubImage, runtimeImage, scriptedAgentImage, workspaceImage} from './plans.ts';

/** Root of the repository. */
export const ROOT = new URL('../..', import.meta.url).pathname.replace(/\/$/, '');

/** References by digest of everything that demo and tests run. */
export interface Images {
  runtime: string;
  scriptedAgent: string;
  workspace: string;
  modelStub: string;
  busybox: string;
}

/** Builds and pushes all images; what did not change is not built again. */
export async function buildImages(target: Target): Promise<Images> {
  const plans: Record<keyof Images, ImagePlan> = {
    runtime: runtimeImage(ROOT),
    scriptedAgent: scriptedAgentImage(ROOT),
    workspace: workspaceImage(ROOT),
    modelStub: modelStubImage(ROOT),
    busybox: busyboxImage(),
  };
  const build = (plan: ImagePlan) => step(`image ${plan.repository}`, () => buildImage(plan, target));
  return {
    runtime: await build(plans.runtime),
    scriptedAgent: await build(plans.scriptedAgent),
    workspace: await build(plans.workspace),
    modelStub: await build(plans.modelStub),
    busybox: await build(plans.busybox),
  };
}

/** Folder of the cache that remembers digests. */
export function imageCache(cache: string): string {
  return join(cache, 'images');
}
