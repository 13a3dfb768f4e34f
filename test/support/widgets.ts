import type {Condition, KubeObject} from '../../src/api/kube-object.ts';
import {kubeResource} from '../../src/kube/resource.ts';

/** A kind for tests of the runtime itself. */
export interface Widget extends KubeObject {
  readonly spec: {
    readonly size?: number | undefined;
    readonly owner?: string | undefined;
    readonly body?: string | undefined;
  };
  readonly status?:
    | {
        readonly phase?: string | undefined;
        readonly count?: number | undefined;
        readonly conditions?: readonly Condition[] | undefined;
      }
    | undefined;
}

/** widgets.kube.test. */
export const Widgets = kubeResource<Widget>({
  group: 'kube.test',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
});
