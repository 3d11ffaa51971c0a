// Spans for OpenTelemetry, through its API alone: without an SDK that is loaded beside Twinline, nothing is made and nothing is sent.
//
// Names and attributes follow the semantic conventions for HTTP, databases and generative AI. They hold names of ours (methods, templates
// of routes, services, screens, outcomes) and no path, phone number or text of callers: so `url.path` and `url.query` are left out.

import {
  type Attributes,
  context,
  ProxyTracerProvider,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

const NONE = new ProxyTracerProvider().getDelegate();

/** Whether an SDK takes spans. */
export function isTracing(): boolean {
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider ? provider.getDelegate() !== NONE : true;
}

export interface SpanOptions {
  /** `in`: a request of others; `out`: one to others. */
  readonly way: 'in' | 'out';
  readonly attributes: Attributes;
  /** The headers of a request of others: its `traceparent` is the span's parent. */
  readonly headers?: { readonly [name: string]: string | string[] | undefined };
}

const KINDS = { in: SpanKind.SERVER, out: SpanKind.CLIENT } as const;

/** Does the work inside a span, which is its argument; the work ends it. */
export function openSpan<T>(name: string, { way, attributes, headers }: SpanOptions, work: (span: Span) => T): T {
  const parent = headers ? propagation.extract(ROOT_CONTEXT, headers) : context.active();
  return trace.getTracer('twinline').startActiveSpan(name, { kind: KINDS[way], attributes }, parent, work);
}

/** The same for work that ends by itself: the span ends with it, and says whether it failed, without its words. */
export async function traced<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T> {
  if (!isTracing()) return work();
  return openSpan(name, options, async (span) => {
    try {
      return await work();
    } catch (error) {
      markFailed(span, error);
      throw error;
    } finally {
      span.end();
    }
  });
}

/** What was begun inside a span, which goes on until it is ended. */
export interface TracedWork<T> {
  readonly result: T;
  /** Adds to the span. */
  describe(attributes: Attributes): void;
  /** Ends the span; with an error it says that the work failed, without its words. */
  end(error?: unknown): void;
}

/** Begins work inside a span that is longer than the call, such as a stream: what it asks of others is part of the span. */
export function beginTraced<T>(name: string, options: SpanOptions, begin: () => T): TracedWork<T> {
  if (!isTracing()) return { result: begin(), describe: () => {}, end: () => {} };
  return openSpan(name, options, (span) => ({
    result: begin(),
    describe: (attributes) => void span.setAttributes(attributes),
    end: (error) => {
      if (error !== undefined) markFailed(span, error);
      span.end();
    },
  }));
}

/** Says that the work of a span failed, without its words. */
export function markFailed(span: Span, error: unknown): void {
  const { code } = error as { code?: unknown };
  span.setAttribute('error.type', typeof code === 'string' ? code : '_OTHER');
  span.setStatus({ code: SpanStatusCode.ERROR, ...(typeof code === 'string' && { message: code }) });
}

/** Adds to the span of the present request, if there is one. */
export function describeSpan(attributes: Attributes, name?: string): void {
  if (!isTracing()) return;
  const span = trace.getActiveSpan();
  span?.setAttributes(attributes);
  if (name !== undefined) span?.updateName(name);
}

/** The present span, as lines of the log name it; empty outside of one. */
export function spanFields(): { readonly trace_id?: string; readonly span_id?: string } {
  const span = trace.getActiveSpan()?.spanContext();
  return span ? { trace_id: span.traceId, span_id: span.spanId } : {};
}

/** Headers of a request to others, with the `traceparent` of the present span. */
export function withTrace<H extends { readonly [name: string]: string }>(headers: H): H {
  if (!isTracing()) return headers;
  const carrier: { [name: string]: string } = { ...headers };
  propagation.inject(context.active(), carrier);
  return carrier as H;
}
