/** Model processes: what a runtime's program calls is in `serve.ts`, which the gateway itself never loads. */
export { createModelHost, type ModelHostParts, type RunningHost } from './host.ts';
export type { LoadedModel, ModelFiles, ModelHost, Runtime, Task, TaskRun } from './types.ts';
