/** The head of an HTTP/1.1 answer as text. Pure, but for the date. */

/** What a value may hold: anything else would end the line, or be taken for its end by some readers. */
const unclear = /[^\t\x20-\x7e\x80-\xff]/;
const namePattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

const phrases: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No Content',
  206: 'Partial Content',
  301: 'Moved Permanently',
  302: 'Found',
  303: 'See Other',
  304: 'Not Modified',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition Failed',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  416: 'Range Not Satisfiable',
  422: 'Unprocessable Entity',
  424: 'Failed Dependency',
  425: 'Too Early',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  499: 'Client Closed Request',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  // No RFC has it; Anthropic's API has.
  529: 'Overloaded',
};

/** One line of a head. Throws for what would read as another line. */
export function toField(name: string, value: string): string {
  if (unclear.test(value) || !namePattern.test(name))
    throw new TypeError(`the header ${JSON.stringify(name)} of an answer holds what no header may`);
  return `${name}: ${value}\r\n`;
}

/** Everything but the connection, how the body ends, and the empty line. `fields` are whole lines. */
export function toAnswerHead(status: number, fields: string, date: string): string {
  return `HTTP/1.1 ${status} ${phrases[status] ?? ''}\r\n${fields}date: ${date}\r\n`;
}

/** The date as headers have it, made once a second. */
export class HttpDate {
  #second = -1;
  #text = '';

  at(now: number): string {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = new Date(second * 1000).toUTCString();
    }
    return this.#text;
  }
}
