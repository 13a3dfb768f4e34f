import {defineConfig} from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      // Pure and in one process.
      {test: {name: 'unit', include: ['src/**/*.test.ts', 'hack/**/*.test.ts', 'test/*.test.ts'], testTimeout: 20_000}},
      // Our processes, started for real, without a cluster; one file at a time, because each keeps both cores busy.
      {
        test: {
          name: 'process',
          include: ['test/process/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      // The installed release on a real cluster. What fails is tried once more: kubelets, pulls and leader changes of a busy
      // machine are outside our tests' reach. The report names each test that needed it.
      {
        test: {
          name: 'integration',
          retry: 1,
          include: ['test/integration/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
