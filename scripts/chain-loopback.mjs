// Loaded into aggregators before they start: what would listen on every interface of the machine listens on 127.0.0.1.
import net from "node:net";

const LOOPBACK = "127.0.0.1";
const isOpen = (host) => host === undefined || host === "" || host === "0.0.0.0" || host === "::";
const isPort = (value) => typeof value === "number" || (typeof value === "string" && /^\d+$/.test(value));

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function onLoopback(...args) {
  const [first, second, ...rest] = args;
  if (isPort(first)) {
    const host = typeof second === "string" ? second : undefined;
    const after = host === undefined ? args.slice(1) : rest;
    return listen.call(this, first, isOpen(host) ? LOOPBACK : host, ...after);
  }
  if (typeof first === "object" && first !== null && isPort(first.port) && isOpen(first.host))
    return listen.call(this, { ...first, host: LOOPBACK }, ...args.slice(1));
  return listen.apply(this, args);
};
