/** The process that runs flite, whose work would otherwise hold up whoever waits on the same thread. */
import { serve } from '../host/serve.ts';
import { createFliteRuntime } from './flite.ts';

serve(createFliteRuntime);
