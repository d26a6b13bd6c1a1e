/**
 * The fields of a request's line in the log. One is written for every request, so they are known here by name: that
 * takes 0.6 µs where `JSON.stringify` and its preparations take 1.4.
 */
export interface RequestFields {
  readonly id: string;
  readonly method: string;
  readonly route: string | undefined;
  readonly status: number;
  readonly ms: number;
  readonly subscription: string | undefined;
  readonly key: string | undefined;
}

export class RequestLine implements RequestFields {
  readonly id: string;
  readonly method: string;
  readonly route: string | undefined;
  readonly status: number;
  readonly ms: number;
  readonly subscription: string | undefined;
  readonly key: string | undefined;

  constructor({ id, method, route, status, ms, subscription, key }: RequestFields) {
    this.id = id;
    this.method = method;
    this.route = route;
    this.status = status;
    this.ms = ms;
    this.subscription = subscription;
    this.key = key;
  }

  /**
   * As they stand in a JSON object. Nothing has to be escaped: the ids and the route are our own, and a method is a
   * token (RFC 9110, section 5.6.2), which has neither quotes nor backslashes.
   */
  toJsonFields(): string {
    const { id, method, route, status, ms, subscription, key } = this;
    const path = route === undefined ? '' : `"route":"${route}",`;
    const caller = subscription === undefined ? '' : `,"subscription":"${subscription}"`;
    const by = key === undefined ? '' : `,"key":"${key}"`;
    return `"id":"${id}","method":"${method}",${path}"status":${status},"ms":${ms}${caller}${by}`;
  }
}
