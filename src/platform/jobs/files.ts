/**
 * Where the files of a job stand: all below one key, the inputs beside a folder for each attempt. A run writes only in
 * the folder of its own attempt, so that one which has lost its lease without knowing can neither overwrite nor remove
 * what another has made.
 */
export function folderOf(jobId: string): string {
  return `jobs/${jobId}`;
}

export function inputsOf(jobId: string): string {
  return `${folderOf(jobId)}/inputs`;
}

export function attemptOf(jobId: string, attempt: number): string {
  return `${folderOf(jobId)}/${attempt}`;
}
