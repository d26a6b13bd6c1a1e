/** What processes tell each other about jobs, through the database. */
export const channels = {
  /** A job may be there to be started: it is new, or a slot is free. */
  waiting: 'jobs_waiting',
  /** The job with this id was cancelled: whoever renders it stops. */
  cancelled: 'jobs_cancelled',
} as const;
