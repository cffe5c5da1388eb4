// Holds queries of GraphQL, and the answers to them, against GitHub's own schema, with the
// reference implementation of GraphQL. It reads a JSON list of {query, variables, answer} and
// prints a JSON list of what is wrong with each, nothing where both are as the schema has them.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';

const [modules] = process.argv.slice(2);
const require = createRequire(join(modules, 'package.json'));
const { GraphQLError, buildSchema, execute, parse, validate } = require('graphql');

// A few fields are in GitHub's schema twice, which is against the letter of GraphQL.
const text = readFileSync(join(modules, 'node_modules', '@octokit', 'graphql-schema', 'schema.graphql'), 'utf8');
const schema = buildSchema(text, { assumeValidSDL: true });

// The scalars that are GitHub's own, of which the schema has the names alone.
function scalar(name, form) {
  const check = (value) => {
    if (typeof value !== 'string' || !form.test(value)) throw new GraphQLError(`${JSON.stringify(value)} is no ${name}`);
    return value;
  };
  const type = schema.getType(name);
  type.parseValue = type.serialize = check;
}
scalar('GitObjectID', /^[0-9a-f]{40}$/);
scalar('Base64String', /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/);

// An answer is right if it is what executing the query gives for the objects that it has.
function check({ query, variables, answer }) {
  let document;
  try {
    document = parse(query);
  } catch (e) {
    return [e.message];
  }
  const wrong = validate(schema, document);
  if (wrong.length > 0) return wrong.map((e) => e.message);
  const { data, errors = [] } = execute({ schema, document, variableValues: variables ?? {}, rootValue: answer.data });
  if (errors.length > 0) return errors.map((e) => e.message);
  return isDeepStrictEqual(JSON.parse(JSON.stringify(data)), answer.data) ? [] : [`the answer is ${JSON.stringify(answer.data)}, and the query asks for ${JSON.stringify(data)}`];
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, 'utf8')).map(check)));
