/**
 * What similarities are measured against. A cosine says little by itself: "urgent" is near to everything, and
 * models differ in how near any two texts are. So each sentence is also compared with ordinary texts, and a
 * state counts by how far it stands out from those.
 */

/** Ordinary sentences about many things, in a plain tone. */
export const ordinaryTexts: readonly string[] = [
  'The weather was mild and the streets were quiet.',
  'She put the keys on the table and went upstairs.',
  'Please find the document attached to this message.',
  'The committee will meet again on the second Tuesday of the month.',
  'He bought bread, apples and a newspaper on the way home.',
  'The river flows through three countries before it reaches the sea.',
  'Our office is open from nine to five on weekdays.',
  'The company employs about two hundred people.',
  'I would like to know more about your services.',
  'The film is based on a novel from the nineteenth century.',
  'Students can borrow up to ten books at a time.',
  'The update changes the colour of the menu.',
  'My brother plays the guitar in a small band.',
  'The train arrives at platform two in ten minutes.',
  'The patient was given a new appointment for next week.',
  'Prices include tax and delivery.',
  'Mix the flour with water and leave it for an hour.',
  'The team trains twice a week in the sports hall.',
  'Thank you for your answer, I will think about it.',
  'The engine has four cylinders and runs on petrol.',
  'A new bridge was opened in the north of the city.',
  'The cat sleeps on the sofa near the window.',
  'We stayed in a hotel close to the beach.',
  'The software runs on Linux, Windows and macOS.',
  'The survey asked a thousand people about their habits.',
  'The law comes into force at the beginning of next year.',
  'Can you tell me what time it is?',
  'The garden has two old trees and a small pond.',
  'The invoice is due within thirty days.',
  'The teacher explained the exercise once more.',
];

/** Two ends of how people feel about something: models hold "I love it" and "I hate it" for nearly the same. */
export const pleasedTexts: readonly string[] = [
  'I love it, it is wonderful.',
  'Excellent, very good, I am happy and satisfied.',
  'A great and pleasant experience.',
];

export const displeasedTexts: readonly string[] = [
  'I hate it, it is terrible.',
  'Awful, very bad, I am angry and disappointed.',
  'A dreadful and unpleasant experience.',
];
