// A span for each request, where an SDK of OpenTelemetry takes spans. Who answers knows the route, and names the span by it.

import { SpanStatusCode } from '@opentelemetry/api';
import { isTracing, openSpan } from '../../lib/http/tracing.ts';
import type { Listener } from '../http/answer.ts';

/** The same listener; each request is a span, whose parent is its `traceparent`. */
export function traceRequests(listener: Listener): Listener {
  return (req, res) => {
    if (!isTracing()) return listener(req, res);
    const { method = 'GET', headers } = req;
    const attributes = { 'http.request.method': method };
    return openSpan(method, { way: 'in', attributes, headers }, (span) => {
      res.once('close', () => {
        span.setAttribute('http.response.status_code', res.statusCode);
        if (res.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      });
      return listener(req, res);
    });
  };
}
