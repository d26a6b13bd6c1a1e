/**
 * The one door for every address that comes from outside. https only, public addresses only, checked when the
 * connection is dialled and on every redirect, so that neither a name that resolves differently the second time
 * nor a redirect leads inside. What is read has a size and a time limit. Networks that the operator allows may
 * be reached as well, over http too; link-local ones never.
 */
import { lookup as lookupName } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import type { Agent, Dispatcher } from 'undici';
import { GatewayError, refusal } from './errors.ts';
import { isAllowedAddress, isReachableAddress, parseNetwork } from './public-address.ts';
import { loadUndici } from './undici.ts';

export interface SafeFetchOptions {
  /** Networks beside the public internet: `10.0.0.0/8`, `127.0.0.1`. */
  allowedNetworks?: readonly string[];
  /** Every address of a name. */
  resolve?: (hostname: string) => Promise<readonly ResolvedAddress[]>;
}

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

export interface FetchLimits {
  /** The field that the address came from: failures name it. */
  param: string;
  maxBytes: number;
  /** For the whole of it, redirects included. Default 20 s. */
  timeoutMs?: number;
  /** The client left: nobody waits for it any more. */
  signal: AbortSignal;
}

export interface Fetched {
  bytes: Buffer;
  /** What the server says it is, without parameters; empty when it says nothing. */
  mediaType: string;
}

export interface Post {
  /** The field that the address came from: failures name it. */
  param: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** Until the answer's status is there. Default 20 s. */
  timeoutMs?: number;
  /** The sender has no more time. */
  signal: AbortSignal;
}

export interface SafeFetch {
  /** The address, when it may be spoken to as far as its text tells; throws `invalid_request` when not. */
  check(url: string, param: string): URL;
  get(url: string, limits: FetchLimits): Promise<Fetched>;
  /** Sends once and answers whatever status comes back. Follows no redirect; what else is answered is not kept. */
  post(url: string, post: Post): Promise<{ status: number }>;
  close(): Promise<void>;
}

/** Longer than servers take. Some addresses are kept with a job and read with every look at it. */
const maxUrlLength = 8192;
const maxRedirects = 3;
const redirectStatuses = new Set([301, 302, 303, 307, 308]);
const connectTimeoutMs = 5_000;
const defaultTimeoutMs = 20_000;
/** Of the answer to a post: read so that a polite server is not cut off, but no more. */
const maxPostAnswerBytes = 4 * 1024;

/** Thrown out of the dialling of a connection; never leaves this file. */
class BlockedAddress extends Error {}

export function createSafeFetch(options: SafeFetchOptions = {}): SafeFetch {
  const { resolve = (hostname) => lookupName(hostname, { all: true }) } = options;
  const networks = (options.allowedNetworks ?? []).map(parseNetwork);
  /** Plain http can be read and changed on its way: only where the operator vouches for the network. */
  const mayDial = {
    'https:': (address: string) => isReachableAddress(address, networks),
    'http:': (address: string) => isAllowedAddress(address, networks),
  };
  type Scheme = keyof typeof mayDial;
  const agents = new Map<Scheme, Agent>();

  function agentFor(scheme: Scheme): Agent {
    let agent = agents.get(scheme);
    if (agent === undefined) {
      agent = createAgent(resolve, mayDial[scheme]);
      agents.set(scheme, agent);
    }
    return agent;
  }

  function check(url: string, param: string): URL {
    if (url.length > maxUrlLength) throw refusal(param, `must have at most ${maxUrlLength} characters`);
    const target = URL.canParse(url) ? new URL(url) : undefined;
    if (target === undefined || !(target.protocol in mayDial)) throw refusal(param, 'must be an https URL');
    if (target.username !== '' || target.password !== '')
      throw refusal(param, 'must not contain a user name or password');
    const { protocol, hostname } = target;
    if (protocol === 'http:' && networks.length === 0) throw refusal(param, 'must be an https URL');
    // A literal address is dialled without a look-up, so it is judged here. The URL parser has already put
    // every notation (0x7f000001, 127.1, [::ffff:7f00:1]) into one form.
    const literal = toLiteral(hostname);
    if (isIP(literal) !== 0 && !mayDial[protocol as Scheme](literal)) throw notPublic(param);
    return target;
  }

  async function read(first: URL, limits: FetchLimits, signal: AbortSignal): Promise<Fetched> {
    let target = first;
    for (let hop = 0; ; hop++) {
      const answer = await loadUndici().request(target, {
        dispatcher: agentFor(target.protocol as Scheme),
        signal,
        headers: { 'user-agent': 'Roundhouse/1.0', accept: '*/*', 'accept-encoding': 'identity' },
      });
      if (!redirectStatuses.has(answer.statusCode)) return await readAnswer(answer, limits);
      answer.body.on('error', () => {}).destroy();
      if (hop === maxRedirects) throw refusal(limits.param, `redirects more than ${maxRedirects} times`);
      target = follow(target, header(answer, 'location'), limits.param);
    }
  }

  function follow(from: URL, location: string, param: string): URL {
    if (location === '' || !URL.canParse(location, from.href))
      throw refusal(param, 'redirects without saying where to');
    return check(new URL(location, from).href, param);
  }

  async function send(
    target: URL,
    { headers, body }: Post,
    signal: AbortSignal,
  ): Promise<{ status: number }> {
    const answer = await loadUndici().request(target, {
      method: 'POST',
      dispatcher: agentFor(target.protocol as Scheme),
      signal,
      headers,
      body,
      // A connection that waits for the next post may be closed by the other side just when that is sent.
      reset: true,
    });
    // The status has decided. Whoever then says more than is read, or nothing more at all, changes nothing.
    await answer.body.dump({ limit: maxPostAnswerBytes, signal }).catch(() => {});
    return { status: answer.statusCode };
  }

  return {
    check,
    async get(url, limits) {
      const target = check(url, limits.param);
      return await inTime(fetching, limits, (stop) => read(target, limits, stop));
    },
    async post(url, post) {
      const target = check(url, post.param);
      return await inTime(posting, post, (stop) => send(target, post, stop));
    },
    async close() {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()));
    },
  };
}

const fetching = { failed: 'could not be fetched', late: 'could not be fetched' };
const posting = { failed: 'could not be reached', late: 'did not answer' };

/** Stops the work when its time is over or nobody waits for it any more, and names the field in what fails. */
async function inTime<T>(
  words: typeof fetching,
  limits: { param: string; timeoutMs?: number; signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { param, signal, timeoutMs = defaultTimeoutMs } = limits;
  const stop = new AbortController();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    stop.abort();
  }, timeoutMs);
  const onLeave = () => stop.abort();
  signal.addEventListener('abort', onLeave);
  try {
    signal.throwIfAborted();
    return await work(stop.signal);
  } catch (cause) {
    signal.throwIfAborted();
    if (isLate) throw refusal(param, `${words.late} within ${timeoutMs / 1000} s`, cause);
    throw toGatewayError(cause, param, words.failed);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onLeave);
  }
}

/** What a host name stands for without a look-up: `localhost` and all below it are loopback (RFC 6761, section 6.3). */
function toLiteral(hostname: string): string {
  if (/(^|\.)localhost\.?$/.test(hostname)) return '127.0.0.1';
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/** Dials only the addresses that were checked: what is looked up here is what is connected to. */
function createAgent(
  resolve: NonNullable<SafeFetchOptions['resolve']>,
  mayDial: (address: string) => boolean,
): Agent {
  const lookup: LookupFunction = (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        // One bad address condemns the name: which of them would be dialled is not ours to say.
        if (first === undefined || !addresses.every(({ address }) => mayDial(address)))
          callback(new BlockedAddress(`${hostname} may not be dialled`), '');
        else if (options.all === true) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
  return new (loadUndici().Agent)({
    connect: { lookup, timeout: connectTimeoutMs },
    allowH2: false,
    keepAliveTimeout: 1_000,
    maxHeaderSize: 16 * 1024,
  });
}

async function readAnswer(answer: Dispatcher.ResponseData, limits: FetchLimits): Promise<Fetched> {
  const { statusCode, body } = answer;
  const { param, maxBytes } = limits;
  const refuse = (error: GatewayError) => {
    body.on('error', () => {}).destroy();
    throw error;
  };
  if (statusCode !== 200) refuse(refusal(param, `could not be fetched: its server answered ${statusCode}`));
  if (Number(header(answer, 'content-length')) > maxBytes) refuse(tooLarge(param, maxBytes));
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(param, maxBytes);
    chunks.push(chunk);
  }
  const [mediaType = ''] = header(answer, 'content-type').split(';', 1);
  return { bytes: Buffer.concat(chunks, size), mediaType: mediaType.trim().toLowerCase() };
}

function header({ headers }: Dispatcher.ResponseData, name: string): string {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? '';
}

function notPublic(param: string, cause?: unknown): GatewayError {
  return refusal(param, 'must be an address on the public internet', cause);
}

export function tooLarge(param: string, maxBytes: number): GatewayError {
  return new GatewayError('too_large', `${param} is larger than the limit of ${maxBytes / 1e6} MB`, {
    param,
  });
}

function toGatewayError(thrown: unknown, param: string, failure: string): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  if (thrown instanceof BlockedAddress) return notPublic(param, thrown);
  return refusal(param, failure, thrown);
}
