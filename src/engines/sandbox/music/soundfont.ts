/** An orchestra of recorded instruments, from the bytes of a SoundFont. */
import { type BasicSoundBank, SoundBankLoader, SpessaSynthProcessor } from 'spessasynth_core';
import type { Orchestra } from './orchestra.ts';
import { recordedGains } from './recorded-gains.ts';

const controllers = { volume: 7, pan: 10, reverb: 91, chorus: 93 } as const;
const mostVoices = 200;

export type SoundBank = BasicSoundBank;

export function readSoundBank(bytes: Uint8Array): SoundBank {
  const { buffer, byteOffset, byteLength } = bytes;
  return SoundBankLoader.fromArrayBuffer(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer);
}

export async function createSoundfontOrchestra(bank: SoundBank, sampleRate: number): Promise<Orchestra> {
  const synthesizer = new SpessaSynthProcessor(sampleRate, { eventsEnabled: false });
  synthesizer.setSystemParameter('voiceCap', mostVoices);
  synthesizer.soundBankManager.addSoundBank(bank, 'instruments');
  await synthesizer.processorInitialized;
  return {
    seat(channel, { instrument, program, volume, pan, reverb }) {
      // The controller is heard by its square.
      const level = Math.sqrt((volume * (recordedGains[instrument] ?? 1)) / 1.6);
      synthesizer.programChange(channel, program);
      synthesizer.controllerChange(channel, controllers.volume, Math.round(Math.min(1, level) * 127));
      synthesizer.controllerChange(channel, controllers.pan, Math.round(64 + pan * 63));
      synthesizer.controllerChange(channel, controllers.reverb, Math.round(reverb * 110));
      synthesizer.controllerChange(channel, controllers.chorus, Math.round(reverb * 30));
    },
    noteOn: (channel, pitch, velocity) => synthesizer.noteOn(channel, pitch, velocity),
    noteOff: (channel, pitch) => synthesizer.noteOff(channel, pitch),
    play(left, right, from, count) {
      // It adds to what it finds.
      left.fill(0, from, from + count);
      right.fill(0, from, from + count);
      synthesizer.process(left, right, from, count);
    },
  };
}
