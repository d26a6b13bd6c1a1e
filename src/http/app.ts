/**
 * The shell around every route: it finds the declaration, then the caller, reads and checks the body, calls
 * the handler and sends what it answers. The order of the checks is part of the contract: unknown
 * route 404, wrong method 405, then the key, then the body's size, then the body.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../lib/errors.ts';
import { createRequestIds } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { Platform } from '../platform/index.ts';
import { authenticate, authenticateLink, authenticateOperator } from './auth.ts';
import { readBody, refuseTooLarge } from './body.ts';
import { createBodyRoom, toRoomBytes } from './body-room.ts';
import { Exchange } from './exchange.ts';
import { answerOnce, idempotencyKeyOf } from './idempotent.ts';
import { holdsNul, parseQuery } from './query.ts';
import type { Method, Route } from './route.ts';
import { allowedMethods, createRouteTable, type Match, noParams } from './table.ts';

/** `local` came through the control socket: it is the operator. */
export type Origin = 'network' | 'local';

export interface App {
  handle(request: IncomingMessage, response: ServerResponse, origin: Origin): void;
}

export interface AppParts {
  routes: readonly Route[];
  platform: Platform;
  log: Log;
  adminToken?: string | undefined;
}

export function createApp({ routes, platform, log, adminToken }: AppParts): App {
  const table = createRouteTable(routes.filter(({ at }) => at === '/v1'));
  const rootTable = createRouteTable(routes.filter(({ at }) => at === '/'));
  const nextId = createRequestIds();
  const bodies = createBodyRoom();

  async function run(exchange: Exchange, target: Target, origin: Origin): Promise<void> {
    const { request } = exchange;
    const match = target.path === undefined ? rootTable.find(target.shown) : table.find(target.path);
    if (match === undefined) throw unknownRoute(request, target);
    const methods = allowedMethods(match);
    const route = choose(match, request.method ?? '');
    // The path's dialect tells a 405 as well, whichever of its methods was meant.
    exchange.route = route ?? match.methods.values().next().value;
    if (request.method === 'OPTIONS') {
      exchange.preflight(methods);
      return;
    }
    if (route === undefined) {
      if (!isOfItsForm(match)) throw unknownRoute(request, target);
      throw new GatewayError(
        'method_not_allowed',
        `${request.method} is not allowed on ${target.shown}: use ${methods.join(', ')}`,
        {
          allow: methods,
        },
      );
    }
    refuseUnclearHeaders(request, route);
    if (route.access === 'key') {
      const caller = authenticate(request.headers, platform.accounts);
      exchange.caller = caller instanceof Promise ? await caller : caller;
    } else if (route.access === 'link') {
      const { path = '', search } = target;
      exchange.caller = await authenticateLink(request.headers, { path, search }, platform);
    } else if (route.access === 'admin')
      authenticateOperator(request.headers, origin === 'local', adminToken);
    exchange.params = decodeParams(match);
    if (route.query !== undefined) exchange.query = parseQuery(target.search, route.query);
    if (takesBody(route)) refuseTooLarge(request, route);
    const roomBytes = takesBody(route) ? toRoomBytes(request, route) : 0;
    if (roomBytes === 0) return serve(exchange, route);
    const leave = bodies.enter(exchange.caller?.subscriptionId, roomBytes);
    try {
      await serve(exchange, route);
    } finally {
      leave();
    }
  }

  /** Once it is known who asks for what, and that there is room for it. */
  async function serve(exchange: Exchange, route: Route): Promise<void> {
    if (takesBody(route)) {
      if (route.before !== undefined) await route.before(exchange, platform);
      exchange.inviteBody();
      const { body, uploads, stored } = await readBody(exchange.request, route, platform);
      exchange.body = body;
      exchange.uploads = uploads;
      exchange.stored = stored;
    }
    try {
      const key = route.idempotent ? idempotencyKeyOf(exchange.headers) : undefined;
      if (key === undefined) await exchange.answer(await route.handle(exchange, platform));
      else await answerOnce(exchange, { route, platform, key });
    } finally {
      await Promise.allSettled(exchange.uploads.map(({ content }) => content.close()));
    }
  }

  return {
    handle(request, response, origin) {
      const target = toTarget(request.url ?? '/');
      const exchange = new Exchange(nextId(), request, response, target.path ?? '', log);
      run(exchange, target, origin).catch((thrown) => exchange.fail(thrown));
    },
  };
}

function takesBody({ body, multipart }: Route): boolean {
  return body !== undefined || multipart !== undefined;
}

interface Target {
  /** Relative to `/v1`; undefined outside of it, where the few routes at the root are. */
  path: string | undefined;
  search: string;
  /** The path as it was sent, for messages. */
  shown: string;
}

const absoluteForm = /^https?:\/\/[^/?#]*/i;

/**
 * The path of a request. Every path is also served under `/v1/v1`, because some SDKs append `/v1` to a base
 * address that already ends in it. The absolute form is what a client sends to a proxy; its host is
 * not looked at, so it cannot choose another route.
 */
function toTarget(url: string): Target {
  const relative = url.startsWith('/') ? url : url.replace(absoluteForm, '');
  const question = relative.indexOf('?');
  const shown = question === -1 ? relative : relative.slice(0, question);
  const search = question === -1 ? '' : relative.slice(question + 1);
  if (!shown.startsWith('/v1/')) return { path: undefined, search, shown };
  const path = shown.startsWith('/v1/v1/') ? shown.slice(6) : shown.slice(3);
  return { path, search, shown };
}

const longestShownPath = 200;

function unknownRoute({ method }: IncomingMessage, { path, shown }: Target): GatewayError {
  const hint = path === undefined ? ': every path begins with /v1/, and /v1/docs describes them' : '';
  const cut = shown.length > longestShownPath ? `${shown.slice(0, longestShownPath)}…` : shown;
  return new GatewayError('not_found', `No route ${method} ${cut}${hint}`);
}

function isOfItsForm({ methods, params }: Match): boolean {
  const [first] = methods.values();
  return first?.idForm === undefined || first.idForm.test(params['id'] ?? '');
}

/** HEAD is answered as GET; the server leaves the body out. */
function choose(match: Match, method: string): Route | undefined {
  return match.methods.get((method === 'HEAD' ? 'GET' : method) as Method);
}

function decodeParams({ params }: Match): Readonly<Record<string, string>> {
  if (params === noParams) return noParams;
  const decoded: Record<string, string> = {};
  for (const [name, value] of Object.entries(params)) {
    try {
      decoded[name] = decodeURIComponent(value);
    } catch (cause) {
      throw new GatewayError('invalid_request', `${name} is not valid percent-encoding`, {
        param: name,
        cause,
      });
    }
    if (decoded[name]?.includes('\0')) throw holdsNul(name);
  }
  return decoded;
}

/** Node keeps the first of two and says nothing; two proxies could then disagree on who is calling. */
function refuseUnclearHeaders(
  { rawHeaders, headers, httpVersion }: IncomingMessage,
  { access }: Route,
): void {
  // Who asks for a public route is not looked at, so what it says of itself cannot be unclear.
  const single = access === 'public' ? publicSingleHeaders : singleHeaders;
  let seen = '';
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i]!;
    if (!singleLengths.has(sent.length)) continue;
    const name = sent.toLowerCase();
    if (!single.has(name)) continue;
    if (seen.includes(`|${name}|`))
      throw new GatewayError('invalid_request', `The header ${name} was sent twice`, { param: name });
    seen += `|${name}|`;
  }
  // RFC 9112, section 3.2.
  if (headers.host === undefined && httpVersion === '1.1')
    throw new GatewayError('invalid_request', 'The header host is missing', { param: 'host' });
}

const publicSingleHeaders = new Set(['host', 'content-type']);
const singleHeaders = new Set([...publicSingleHeaders, 'authorization', 'x-api-key']);
/** Most headers are told apart by their length alone. */
const singleLengths = new Set([...singleHeaders].map(({ length }) => length));
