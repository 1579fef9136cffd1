// What the server says. Nothing else is called.

export interface Column {
  name: string;
  kind: string;
  values?: string[];
}

export interface Input {
  form: string;
  columns?: Column[];
  classes?: string[];
  proba: boolean;
  /** Columns of weights, each with features of its own. */
  outputs?: number;
  /** The value of each label in masks. */
  masks?: string[];
  example?: Record<string, unknown[]>;
}

export interface Served {
  name: string;
  task: string;
  version: number;
  loaded: string;
  bytes: number;
  input: Input;
}

export type Json = Record<string, any>;

/** A problem as the server tells it. */
export class Problem extends Error {
  constructor(readonly status: number, detail: string, readonly pointer?: string) {
    super(detail);
  }
}

/** What went wrong, for people. */
export function words(error: unknown): string {
  const where = error instanceof Problem && error.pointer ? ` (${error.pointer})` : "";
  return (error instanceof Error ? error.message : String(error)) + where;
}

/** JSON that somebody has typed. */
export function parsed(text: string, what: string): any {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${what} is not JSON: ${words(error)}`);
  }
}

const TOKEN = "lineal-token";
export const setToken = (token: string): void => sessionStorage.setItem(TOKEN, token);
export const hasToken = (): boolean => sessionStorage.getItem(TOKEN) !== null;

async function send(path: string, init: RequestInit = {}): Promise<any> {
  const token = sessionStorage.getItem(TOKEN);
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (token) headers.authorization = `Bearer ${token}`;
  const response = await fetch(path, { ...init, headers });
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Problem(response.status, body.detail ?? response.statusText, body.pointer);
  return body;
}

export const list = (): Promise<{ models: Served[]; playground: boolean }> => send("v1/models");
export const playground = (request: Json): Promise<Json> => send("v1/playground", { method: "POST", body: JSON.stringify(request) });
export const describe = (name: string, top: number): Promise<Json> => send(`v1/models/${encodeURIComponent(name)}?top=${top}`);
export const openapi = (): Promise<Json> => send("openapi.json");

export async function predict(name: string, request: Json): Promise<Json[]> {
  const answer = await send(`v1/models/${encodeURIComponent(name)}/predict`, { method: "POST", body: JSON.stringify(request) });
  return answer.predictions;
}

export async function explain(name: string, request: Json): Promise<Json[]> {
  const answer = await send(`v1/models/${encodeURIComponent(name)}/explain`, { method: "POST", body: JSON.stringify(request) });
  return answer.explanations;
}

export const evaluate = (name: string, request: Json): Promise<Json> => send(`v1/models/${encodeURIComponent(name)}/evaluate`, { method: "POST", body: JSON.stringify(request) });

/** What a model file keeps of a report, as HTML. */
export interface Views {
  training: string;
  evaluation: { source: string; html: string } | null;
}

export const views = (name: string): Promise<Views> => send(`v1/models/${encodeURIComponent(name)}/views`);
