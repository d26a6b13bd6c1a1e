export { type Heard, type Listener, type Recording, type Transcript, transcribe } from './transcribe.ts';
