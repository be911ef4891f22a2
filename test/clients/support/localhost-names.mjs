// Names below localhost are the loopback address (RFC 6761 §6.3), which Node's resolver does not know on many machines.
// Imported by a test, and by NODE_OPTIONS into the programs of others.
import dns from "node:dns"

const { lookup } = dns

dns.lookup = (name, options, callback = options) =>
  lookup(name.endsWith(".localhost") ? "127.0.0.1" : name, options === callback ? {} : options, callback)
