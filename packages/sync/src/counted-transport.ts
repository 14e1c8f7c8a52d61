import type { Exchange, Transport } from './transport/port.js';

const everyMs = 500;
const mebibyte = 1024 * 1024;

/** `transport`, telling a watching person how much has come in, at most twice a second. */
export function countedTransport(transport: Transport, onProgress: ((line: string) => void) | undefined): Transport {
  if (onProgress === undefined) return transport;
  return {
    watchable: transport.watchable,
    async open(service, options) {
      const exchange = await transport.open(service, options);
      return service === 'git-upload-pack' ? counted(exchange, onProgress) : exchange;
    },
  };
}

function counted(exchange: Exchange, onProgress: (line: string) => void): Exchange {
  return {
    advertised: exchange.advertised,
    async *post(body) {
      let bytes = 0;
      let last = performance.now();
      for await (const chunk of exchange.post(body)) {
        bytes += chunk.length;
        if (performance.now() - last >= everyMs) {
          last = performance.now();
          onProgress(`received ${(bytes / mebibyte).toFixed(1)} MiB`);
        }
        yield chunk;
      }
    },
    close: () => exchange.close(),
  };
}
