/** Why a job came to nothing, before it is known which field of a request to name. */
export type FailureReason =
  /** The job says that its input is at fault; `problem` says how. */
  | 'input'
  /** The job failed and its input is not at fault. */
  | 'job'
  /** A package that it needs is not installed. */
  | 'missing'
  /** The process ended in the middle of it. */
  | 'crash'
  /** The process was ended by somebody else. */
  | 'outside'
  | 'time'
  | 'memory'
  | 'output';

export class JobFailure extends Error {
  readonly reason: FailureReason;
  /** In words that follow the field's name. */
  readonly problem: string | undefined;

  constructor(reason: FailureReason, detail: string, problem?: string) {
    super(detail);
    this.name = 'JobFailure';
    this.reason = reason;
    this.problem = problem;
  }
}
