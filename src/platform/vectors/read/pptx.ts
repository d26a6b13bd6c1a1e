/** Presentations slide by slide, each under its title, with the speaker's notes. */
import type { Passage } from '../parts.ts';
import { type Office, openOffice, type PartHandler } from './office.ts';

export async function* readPptx(bytes: Buffer): AsyncGenerator<Passage> {
  const office = openOffice(bytes);
  let number = 0;
  for (const name of await slidesOf(office)) {
    number++;
    const slide = await readSlide(office, name);
    const notes = [...(await office.relations(name)).values()].find(({ type }) => type === 'notesSlide');
    const spoken = notes === undefined ? undefined : await readSlide(office, notes.target);
    const headings = slide.title === '' ? [] : [slide.title];
    const place = { unit: 'slide', at: number } as const;
    const paragraphs = [...slide.paragraphs, ...(spoken?.paragraphs ?? [])];
    if (paragraphs.length > 0) yield { text: paragraphs.join('\n'), headings, place };
    else if (slide.title !== '') yield { text: slide.title, headings: [], place };
  }
}

/** In the order in which they are shown. */
async function slidesOf(office: Office): Promise<string[]> {
  const presentation = 'ppt/presentation.xml';
  const relations = await office.relations(presentation);
  const slides: string[] = [];
  await office.scan(presentation, {
    open(name, attributes) {
      const target = name === 'sldId' ? relations.get(attributes['r:id'] ?? '')?.target : undefined;
      if (target !== undefined) slides.push(target);
    },
  });
  return slides;
}

async function readSlide(office: Office, name: string): Promise<{ title: string; paragraphs: string[] }> {
  let title = '';
  const paragraphs: string[] = [];
  await office.scan(
    name,
    slideHandler((text, kind) => {
      if (kind === 'title') title = title === '' ? text : `${title} ${text}`;
      else if (kind !== 'decoration') paragraphs.push(text);
    }),
  );
  return { title, paragraphs };
}

type ShapeKind = 'title' | 'decoration' | 'text';

const shapeKinds: Readonly<Record<string, ShapeKind>> = {
  title: 'title',
  ctrTitle: 'title',
  sldNum: 'decoration',
  dt: 'decoration',
  ftr: 'decoration',
  hdr: 'decoration',
  sldImg: 'decoration',
};

/** Hands on each paragraph, and each row of a table as one. */
function slideHandler(onParagraph: (text: string, kind: ShapeKind) => void): PartHandler {
  let kind: ShapeKind = 'text';
  let paragraph = '';
  let isText = false;
  let isRow = false;
  let cells = 0;
  function end(): void {
    const text = paragraph.replace(/\s+/g, ' ').trim();
    paragraph = '';
    if (text !== '') onParagraph(text, kind);
  }
  return {
    open(name, { type = '' }) {
      if (name === 'sp' || name === 'graphicFrame') kind = 'text';
      else if (name === 'ph') kind = shapeKinds[type] ?? 'text';
      else if (name === 't') isText = true;
      else if (name === 'br') paragraph += ' ';
      else if (name === 'tr') {
        isRow = true;
        cells = 0;
      } else if (name === 'tc' && cells++ > 0) paragraph += ' | ';
    },
    close(name) {
      if (name === 't') isText = false;
      else if (name === 'tr') {
        isRow = false;
        end();
      } else if (name === 'p') {
        if (isRow) paragraph += ' ';
        else end();
      }
    },
    text(text) {
      if (isText) paragraph += text;
    },
  };
}
