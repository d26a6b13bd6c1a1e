/** Chord progressions, one entry a bar; a comma parts a bar in two. Which is taken is left to chance. */
export interface Progressions {
  readonly verse: readonly [string, ...string[]];
  readonly chorus: readonly [string, ...string[]];
  readonly bridge: readonly [string, ...string[]];
  /** The bar before the last chord. */
  readonly cadence: string;
  readonly last: string;
}

export interface Harmony {
  readonly major: Progressions;
  readonly minor: Progressions;
}

export const harmonies = {
  pop: {
    major: {
      verse: ['I V vi IV', 'I vi IV V', 'I iii IV V', 'vi IV I V'],
      chorus: ['IV I V vi', 'I V vi IV', 'IV V vi I'],
      bridge: ['ii IV vi V', 'vi iii IV V'],
      cadence: 'V7',
      last: 'I',
    },
    minor: {
      verse: ['i bVI bIII bVII', 'i iv bVII bIII', 'i bVII bVI bVII'],
      chorus: ['bVI bVII i bIII', 'bVI bIII bVII i', 'i bVI bIII bVII'],
      bridge: ['iv i bVI V', 'bVI iv bVII V'],
      cadence: 'V7',
      last: 'i',
    },
  },
  folk: {
    major: {
      verse: ['I IV I V', 'I I IV V', 'I V IV I'],
      chorus: ['IV I V I', 'IV I IV V'],
      bridge: ['vi IV I V', 'ii V I V'],
      cadence: 'V7',
      last: 'I',
    },
    minor: {
      verse: ['i bVII i v', 'i bVII bVI v', 'i iv i bVII'],
      chorus: ['bIII bVII i v', 'bVI bVII i i'],
      bridge: ['iv i bVII bIII', 'bVI bIII iv v'],
      cadence: 'v',
      last: 'i',
    },
  },
  classical: {
    major: {
      verse: ['I V7 I IV', 'I IV V7 I', 'I vi ii V7'],
      chorus: ['IV I V7 I', 'vi ii V7 I', 'I,V vi,iii IV,I ii,V7'],
      bridge: ['vi iii IV V7', 'II7 V7 ii V7'],
      cadence: 'V7',
      last: 'I',
    },
    minor: {
      verse: ['i V7 i iv', 'i iv V7 i', 'i bVI iv V7'],
      chorus: ['iv i V7 i', 'bIII bVII i V7', 'i,V i,bVII bIII,bVI iv,V7'],
      bridge: ['bVI bIII iv V7', 'iv bVII bIII V7'],
      cadence: 'V7',
      last: 'i',
    },
  },
  jazz: {
    major: {
      verse: ['ii7 V7 Imaj7 VI7', 'Imaj7 vi7 ii7 V7', 'iii7,VI7 ii7,V7 Imaj7 Imaj7'],
      chorus: ['IVmaj7 iv7 iii7,VI7 ii7,V7', 'Imaj7 II7 ii7 V7'],
      bridge: ['III7 VI7 II7 V7', 'IVmaj7 bVII7 Imaj7 VI7'],
      cadence: 'ii7,V7',
      last: 'Imaj9',
    },
    minor: {
      verse: ['i7 iv7 ii7,V7 i7', 'i7 bVI7 V7 i7', 'iv7 bVII7 bIIImaj7 V7'],
      chorus: ['iv7 bVII7 bIIImaj7 bVImaj7', 'i7 iv7 bVI7 V7'],
      bridge: ['iv7 i7 bVI7 V7', 'bIIImaj7 bVImaj7 ii7 V7'],
      cadence: 'bVI7,V7',
      last: 'i6',
    },
  },
  bossa: {
    major: {
      verse: ['Imaj7 II7 ii7 V7', 'Imaj7 Imaj7 ii7 V7'],
      chorus: ['IVmaj7 iv6 iii7 VI7', 'ii7 V7 Imaj7 VI7'],
      bridge: ['iv7 bVII7 bIIImaj7 V7', 'vi7 II7 ii7 V7'],
      cadence: 'ii7,V7',
      last: 'Imaj9',
    },
    minor: {
      verse: ['i7 i7 ii7 V7', 'i7 iv7 ii7,V7 i7'],
      chorus: ['iv7 bVII7 bIIImaj7 bVImaj7', 'bVImaj7 V7 i7 i7'],
      bridge: ['bIIImaj7 bVImaj7 iv7 V7', 'iv7 i7 bVI7 V7'],
      cadence: 'V7',
      last: 'i9',
    },
  },
  blues: {
    major: {
      verse: ['I7 IV7 I7 I7 IV7 IV7 I7 I7 V7 IV7 I7 V7', 'I7 I7 I7 I7 IV7 IV7 I7 I7 V7 IV7 I7 V7'],
      chorus: ['I7 IV7 I7 I7 IV7 IV7 I7 I7 V7 IV7 I7 V7'],
      bridge: ['IV7 IV7 I7 I7 IV7 IV7 I7 I7 II7 II7 V7 V7'],
      cadence: 'V7',
      last: 'I9',
    },
    minor: {
      verse: ['i7 iv7 i7 i7 iv7 iv7 i7 i7 bVI7 V7 i7 V7'],
      chorus: ['i7 i7 i7 i7 iv7 iv7 i7 i7 bVI7 V7 i7 V7'],
      bridge: ['iv7 iv7 i7 i7 iv7 iv7 i7 i7 bVI7 bVI7 V7 V7'],
      cadence: 'V7',
      last: 'i7',
    },
  },
  rock: {
    major: {
      verse: ['I bVII IV I', 'I IV I V', 'I V IV IV'],
      chorus: ['I IV vi V', 'IV V I I', 'I V bVII IV'],
      bridge: ['vi vi IV V', 'bVI bVII I I'],
      cadence: 'bVI,bVII',
      last: 'I',
    },
    minor: {
      verse: ['i i bVI bVII', 'i bVII iv i', 'i bIII bVII iv'],
      chorus: ['bVI bVII i i', 'i bVI bIII bVII'],
      bridge: ['iv iv bVI V', 'bVI bVI bVII bVII'],
      cadence: 'bVI,bVII',
      last: 'i',
    },
  },
  metal: {
    major: {
      verse: ['I5 I5 bVI5 bVII5', 'I5 bII5 I5 bVII5'],
      chorus: ['bVI5 bVII5 I5 I5'],
      bridge: ['IV5 IV5 bVI5 V5'],
      cadence: 'bVI5,bVII5',
      last: 'I5',
    },
    minor: {
      verse: ['i5 i5 bVI5 bVII5', 'i5 bII5 i5 bVII5', 'i5 bIII5 bII5 i5'],
      chorus: ['bVI5 bVII5 i5 i5', 'i5 bVI5 bIII5 bVII5'],
      bridge: ['iv5 iv5 bVI5 v5', 'bII5 bII5 i5 i5'],
      cadence: 'bVI5,bVII5',
      last: 'i5',
    },
  },
  funk: {
    major: {
      verse: ['I9 I9 IV9 I9', 'I7 I7 I7 IV7'],
      chorus: ['IV9 IV9 I9 V9', 'ii7 V9 I9 I9'],
      bridge: ['IV9 bVII9 IV9 V9'],
      cadence: 'V9',
      last: 'I9',
    },
    minor: {
      verse: ['i7 i7 IV9 i7', 'i9 i9 i9 IV9'],
      chorus: ['iv7 v7 i7 i7', 'bVImaj7 v7 i7 IV9'],
      bridge: ['bVImaj7 bVII iv7 V7'],
      cadence: 'V9',
      last: 'i9',
    },
  },
  epic: {
    major: {
      verse: ['I V vi IV', 'I bVII IV I'],
      chorus: ['IV V vi I', 'bVI bVII I I'],
      bridge: ['vi iii IV V', 'ii vi IV V'],
      cadence: 'IV,V',
      last: 'I',
    },
    minor: {
      verse: ['i bVI bIII bVII', 'i bVI iv V', 'i i bVI bVI'],
      chorus: ['bVI bVII i bIII', 'i bVII bVI V'],
      bridge: ['iv bVI i V', 'bVI bVI iv V'],
      cadence: 'bVI,bVII',
      last: 'i',
    },
  },
  still: {
    major: {
      verse: ['Iadd9 Iadd9 IVmaj7 IVmaj7', 'Imaj7 vi7 IVmaj7 Iadd9'],
      chorus: ['IVmaj7 Iadd9 vi7 IVmaj7', 'IVmaj7 IVmaj7 Iadd9 Vsus4'],
      bridge: ['vi7 vi7 IVmaj7 Vsus4', 'ii7 IVmaj7 vi7 IVmaj7'],
      cadence: 'Vsus4',
      last: 'Iadd9',
    },
    minor: {
      verse: ['i7 i7 bVImaj7 bVImaj7', 'i7 bVImaj7 bIIImaj7 bVII'],
      chorus: ['bVImaj7 bIIImaj7 i7 bVII', 'iv7 bVImaj7 i7 i7'],
      bridge: ['iv7 iv7 bVImaj7 bVII', 'bIIImaj7 bVII iv7 bVImaj7'],
      cadence: 'bVII',
      last: 'iadd9',
    },
  },
  reggae: {
    major: {
      verse: ['I IV I V', 'I V vi IV', 'I ii I V'],
      chorus: ['I V vi IV', 'IV I V I'],
      bridge: ['vi ii vi V'],
      cadence: 'V',
      last: 'I',
    },
    minor: {
      verse: ['i iv i iv', 'i bVII i v', 'i iv v i'],
      chorus: ['bVI bVII i i', 'iv i v i'],
      bridge: ['bVI iv bVII v'],
      cadence: 'v',
      last: 'i',
    },
  },
} as const satisfies Record<string, Harmony>;

export type HarmonyName = keyof typeof harmonies;
