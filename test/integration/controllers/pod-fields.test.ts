import {describe, expect, it} from 'vitest';
import {z} from 'zod';
import {openCluster} from '../../../hack/cluster/cluster.ts';
import {
  CONTAINER_FIELDS,
  MOUNT_FIELDS,
  POD_FIELDS,
  POD_SECURITY_FIELDS,
  SECURITY_FIELDS,
} from '../../../src/domain/session/pod-fields.ts';

const Schemas = z.object({
  components: z.object({
    schemas: z.record(z.string(), z.object({properties: z.record(z.string(), z.unknown()).optional()})),
  }),
});

describe('the table of pod fields', () => {
  it('names every field that the API server knows, so that none is forgotten', async () => {
    const cluster = await openCluster();
    const {components} = Schemas.parse(JSON.parse(await cluster.kubectl(['get', '--raw', '/openapi/v3/api/v1'])));
    const fields = (kind: string) => Object.keys(components.schemas[`io.k8s.api.core.v1.${kind}`]?.properties ?? {});
    const tables = {
      PodSpec: POD_FIELDS,
      PodSecurityContext: POD_SECURITY_FIELDS,
      Container: CONTAINER_FIELDS,
      SecurityContext: SECURITY_FIELDS,
      VolumeMount: MOUNT_FIELDS,
    };
    for (const [kind, table] of Object.entries(tables)) {
      expect(fields(kind).length, kind).toBeGreaterThan(0);
      const undecided = fields(kind).filter((field) => !Object.hasOwn(table, field));
      expect(undecided, `fields of ${kind} that nobody has decided about: add them to pod-fields.ts`).toEqual([]);
    }
  });
});
