import {defineConfig} from 'vitest/config';

/** Tests that take away what all others stand on: a node, the API server, processes of the release. One file at a time. */
const ALONE = [
  'test/integration/archive/archive.test.ts',
  'test/integration/cluster/faults.test.ts',
  'test/integration/demo/demo.test.ts',
  'test/integration/gateway/outage.test.ts',
  'test/integration/kube/restart.test.ts',
  'test/integration/session/faults.test.ts',
];

// What fails on the cluster is tried once more: kubelets, pulls and leader changes of a busy machine are outside our
// tests' reach. The report names each test that needed it.
const onCluster = {retry: 1, testTimeout: 180_000, hookTimeout: 600_000, expect: {poll: {timeout: 60_000}}};

// How long `expect.poll` tries: far more than anything takes, so that a slow machine fails no test.
const withoutCluster = {expect: {poll: {timeout: 15_000}}};

export default defineConfig({
  test: {
    projects: [
      // Pure and in one process.
      {
        test: {
          ...withoutCluster,
          name: 'unit',
          include: ['src/**/*.test.ts', 'hack/**/*.test.ts', 'test/*.test.ts'],
          testTimeout: 20_000,
        },
      },
      // Our processes, started for real, without a cluster; one file at a time, because each keeps both cores busy.
      {
        test: {
          ...withoutCluster,
          name: 'process',
          include: ['test/process/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      // The installed release on a real cluster. Each file has a namespace of its own; most of a file's time is waiting for
      // pods, so a few run side by side.
      {
        test: {
          ...onCluster,
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          exclude: ALONE,
          maxWorkers: 2,
        },
      },
      {test: {...onCluster, name: 'alone', include: ALONE, fileParallelism: false}},
    ],
  },
});
