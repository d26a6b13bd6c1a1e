import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// As `npm start` has it: packages and our own files are compiled once, and not by every process.
process.env['NODE_COMPILE_CACHE'] ??= `${import.meta.dirname}/node_modules/.cache/roundhouse`;

const longest = [
  'test/kill-jobs',
  'test/speech',
  'test/tinyllama',
  'test/retrieval-quality',
  'test/transcription-models',
  'src/engines/embedded/transcription',
  'src/platform/vectors/read/cutter',
  'test/media-formats',
  'test/kill-ingest',
  'test/cli',
].map((name) => `/${name}.test.ts`);

/** What takes longest begins first, so that no process is left alone with it at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = longest.findIndex((name) => moduleId.endsWith(name));
      return index === -1 ? longest.length : index;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    pool: 'forks',
    // Many tests wait rather than compute: two at a time share even two cores well.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    sequence: { sequencer: LongestFirst },
    // Node runs the files itself, as it does everywhere else.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Room for a busy machine: what hangs is found all the same.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
  },
});
