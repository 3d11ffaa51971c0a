// Spans for OpenTelemetry, through its API only: unless an SDK is loaded alongside Twinline, nothing is created or sent.
//
// Names and attributes follow the semantic conventions for HTTP, databases and generative AI. They contain our own names
// (methods, route templates, services, screens, outcomes) and no path, phone number or text of callers; so `url.path`
// and `url.query` are omitted.

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

/** Whether an SDK records spans. */
export function isTracing(): boolean {
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider ? provider.getDelegate() !== NONE : true;
}

export interface SpanOptions {
  /** `in`: an incoming request; `out`: an outgoing one. */
  readonly way: 'in' | 'out';
  readonly attributes: Attributes;
  /** Headers of an incoming request, whose `traceparent` is the span's parent. */
  readonly headers?: { readonly [name: string]: string | string[] | undefined };
}

const KINDS = { in: SpanKind.SERVER, out: SpanKind.CLIENT } as const;

/** Runs the work inside a span, passed as its argument; the work must end it. */
export function openSpan<T>(name: string, { way, attributes, headers }: SpanOptions, work: (span: Span) => T): T {
  const parent = headers ? propagation.extract(ROOT_CONTEXT, headers) : context.active();
  return trace.getTracer('twinline').startActiveSpan(name, { kind: KINDS[way], attributes }, parent, work);
}

/** Runs the work inside a span that ends with it and records failure, without the error message. */
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

/** Work inside a span that stays open until `end` is called. */
export interface TracedWork<T> {
  readonly result: T;
  /** Adds attributes to the span. */
  describe(attributes: Attributes): void;
  /** Ends the span, marking it failed if there is an error, without the error message. */
  end(error?: unknown): void;
}

/** Starts work inside a span that outlives the call, such as a stream; calls that it makes become child spans. */
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

/** Marks a span as failed, without the error message. */
export function markFailed(span: Span, error: unknown): void {
  const { code } = error as { code?: unknown };
  span.setAttribute('error.type', typeof code === 'string' ? code : '_OTHER');
  span.setStatus({ code: SpanStatusCode.ERROR, ...(typeof code === 'string' && { message: code }) });
}

/** Adds attributes to the current span, if any. */
export function describeSpan(attributes: Attributes, name?: string): void {
  if (!isTracing()) return;
  const span = trace.getActiveSpan();
  span?.setAttributes(attributes);
  if (name !== undefined) span?.updateName(name);
}

/** The ids of the current span, as log fields; empty outside a span. */
export function spanFields(): { readonly trace_id?: string; readonly span_id?: string } {
  const span = trace.getActiveSpan()?.spanContext();
  return span ? { trace_id: span.traceId, span_id: span.spanId } : {};
}

/** Adds the `traceparent` of the current span to outgoing headers. */
export function withTrace<H extends { readonly [name: string]: string }>(headers: H): H {
  if (!isTracing()) return headers;
  const carrier: { [name: string]: string } = { ...headers };
  propagation.inject(context.active(), carrier);
  return carrier as H;
}
