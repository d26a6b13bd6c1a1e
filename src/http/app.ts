/**
 * The shell around every route: it finds the declaration, then the caller, and lets the request pass (`passage.ts`):
 * the body is read and checked, the handler is called and what it answers is sent. The order of the checks is part of
 * the contract: unknown route 404, wrong method 405, then the key, then the body's size, then the body.
 */
import { GatewayError } from '../lib/errors.ts';
import type { ServerAnswer } from '../lib/http1/server/answer.ts';
import type { ServerRequest } from '../lib/http1/server/request.ts';
import { createRequestIds } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { Caller } from '../platform/accounts/types.ts';
import type { Platform } from '../platform/index.ts';
import { authenticate, authenticateLink, authenticateOperator } from './auth.ts';
import { refuseTooLarge } from './body.ts';
import { createBodyRoom, toRoomBytes } from './body-room.ts';
import { Exchange } from './exchange.ts';
import { Passage, takesBody } from './passage.ts';
import { holdsNul, parseQuery } from './query.ts';
import type { Method, Route } from './route.ts';
import { allowedMethods, createRouteTable, type Match, noParams } from './table.ts';

/** `local` came through the control socket: it is the operator. */
export type Origin = 'network' | 'local';

export interface App {
  handle(request: ServerRequest, answer: ServerAnswer, origin: Origin): void;
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

  /** Up to where the caller is known; a promise where that takes a look into the database. */
  function begin(exchange: Exchange, target: Target, origin: Origin): Promise<void> | undefined {
    const { request } = exchange;
    const match = target.path === undefined ? rootTable.find(target.shown) : table.find(target.path);
    if (match === undefined) throw unknownRoute(request, target);
    const route = choose(match, request.method);
    // The path's dialect tells a 405 as well, whichever of its methods was meant.
    exchange.route = route ?? match.methods.values().next().value;
    if (request.method === 'OPTIONS') {
      exchange.preflight(allowedMethods(match));
      return undefined;
    }
    if (route === undefined) {
      if (!isOfItsForm(match)) throw unknownRoute(request, target);
      const allow = allowedMethods(match);
      throw new GatewayError(
        'method_not_allowed',
        `${request.method} is not allowed on ${target.shown}: use ${allow.join(', ')}`,
        { allow },
      );
    }
    refuseUnclearHeaders(request, route);
    const caller = identify(exchange, route, target, origin);
    if (caller instanceof Promise)
      return caller.then((known) => {
        exchange.caller = known;
        enter(exchange, route, match, target);
      });
    exchange.caller = caller;
    enter(exchange, route, match, target);
    return undefined;
  }

  function identify(
    { request }: Exchange,
    { access }: Route,
    { path = '', search }: Target,
    origin: Origin,
  ): Caller | undefined | Promise<Caller> {
    switch (access) {
      case 'key':
        return authenticate(request.headers, platform.accounts);
      case 'link':
        return authenticateLink(request.headers, { path, search }, platform);
      case 'admin':
        authenticateOperator(request.headers, origin === 'local', adminToken);
        return undefined;
      case 'public':
        return undefined;
    }
  }

  /** What can be refused before the body is read; then the request goes its way. */
  function enter(exchange: Exchange, route: Route, match: Match, target: Target): void {
    const { request } = exchange;
    exchange.params = decodeParams(match);
    if (route.query !== undefined) exchange.query = parseQuery(target.search, route.query);
    let roomBytes = 0;
    if (takesBody(route)) {
      refuseTooLarge(request, route);
      roomBytes = toRoomBytes(request, route);
    }
    const leaveRoom = roomBytes === 0 ? undefined : bodies.enter(exchange.caller?.subscriptionId, roomBytes);
    new Passage(exchange, route, platform, leaveRoom).start();
  }

  return {
    handle(request, answer, origin) {
      const target = toTarget(request.target);
      const exchange = new Exchange(nextId(), request, answer, target.path ?? '', log);
      try {
        begin(exchange, target, origin)?.catch((thrown) => exchange.fail(thrown));
      } catch (thrown) {
        exchange.fail(thrown);
      }
    },
  };
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

function unknownRoute({ method }: ServerRequest, { path, shown }: Target): GatewayError {
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

/** Two proxies could disagree on which of two counts, and so on who is calling. */
function refuseUnclearHeaders({ repeated, headers, isHttp10 }: ServerRequest, { access }: Route): void {
  if (repeated !== undefined) {
    // Who asks for a public route is not looked at, so what it says of itself cannot be unclear.
    const name = (access === 'public' ? publicSingleHeaders : singleHeaders).find((one) => repeated.has(one));
    if (name !== undefined)
      throw new GatewayError('invalid_request', `The header ${name} was sent twice`, { param: name });
  }
  // RFC 9112, section 3.2.
  if (headers['host'] === undefined && !isHttp10)
    throw new GatewayError('invalid_request', 'The header host is missing', { param: 'host' });
}

const publicSingleHeaders = ['host', 'content-type'];
const singleHeaders = [...publicSingleHeaders, 'authorization', 'x-api-key'];
