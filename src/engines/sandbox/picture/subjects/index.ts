/** Every subject that the painter knows, by its name, with the colour that it has by nature. */
import { type Colour, rgb } from '../colour.ts';
import type { SubjectKind } from '../words.ts';
import { drawCat, drawDog, drawFish, drawRabbit } from './animals.ts';
import { drawBird, drawButterfly, drawOwl, drawPenguin } from './birds.ts';
import { drawBoat, drawCastle, drawHouse, drawLighthouse } from './buildings.ts';
import { drawPerson, drawRobot, drawSnowman } from './figures.ts';
import type { Drawing } from './look.ts';
import { drawCactus, drawFlower, drawMushroom, drawPalm, drawPine, drawTree } from './plants.ts';
import {
  drawApple,
  drawBook,
  drawCake,
  drawCup,
  drawHeart,
  drawKite,
  drawPlanet,
  drawStar,
  drawUmbrella,
} from './things.ts';
import { drawBalloon, drawCar, drawRocket, drawTrain } from './vehicles.ts';

export interface Subject {
  readonly draw: Drawing;
  /** Absent: one of the scene's own colours. */
  readonly colour?: Colour;
}

export const subjects: Readonly<Record<SubjectKind, Subject>> = {
  cat: { draw: drawCat, colour: rgb(0xd98a42) },
  dog: { draw: drawDog, colour: rgb(0xb98555) },
  rabbit: { draw: drawRabbit, colour: rgb(0xcdbfae) },
  bird: { draw: drawBird },
  owl: { draw: drawOwl, colour: rgb(0x9a6f45) },
  penguin: { draw: drawPenguin, colour: rgb(0x23283a) },
  fish: { draw: drawFish },
  butterfly: { draw: drawButterfly },
  tree: { draw: drawTree, colour: rgb(0x4f9a42) },
  pine: { draw: drawPine, colour: rgb(0x2f7044) },
  palm: { draw: drawPalm, colour: rgb(0x3fa04c) },
  cactus: { draw: drawCactus, colour: rgb(0x4f9457) },
  flower: { draw: drawFlower },
  mushroom: { draw: drawMushroom, colour: rgb(0xcf3a2f) },
  house: { draw: drawHouse, colour: rgb(0xb5523c) },
  castle: { draw: drawCastle },
  lighthouse: { draw: drawLighthouse, colour: rgb(0xcf3a34) },
  boat: { draw: drawBoat },
  car: { draw: drawCar },
  train: { draw: drawTrain },
  rocket: { draw: drawRocket, colour: rgb(0xd8382f) },
  balloon: { draw: drawBalloon },
  kite: { draw: drawKite },
  person: { draw: drawPerson },
  robot: { draw: drawRobot },
  snowman: { draw: drawSnowman, colour: rgb(0xc8342f) },
  heart: { draw: drawHeart, colour: rgb(0xdb2f45) },
  apple: { draw: drawApple, colour: rgb(0xcf2f2c) },
  cup: { draw: drawCup },
  cake: { draw: drawCake, colour: rgb(0xf2a4bd) },
  umbrella: { draw: drawUmbrella },
  book: { draw: drawBook },
  star: { draw: drawStar, colour: rgb(0xf0913c) },
  planet: { draw: drawPlanet },
};
