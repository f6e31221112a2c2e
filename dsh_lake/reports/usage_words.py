"""The words of a page of usage, for readers who do not know the harness: one sentence each."""

from __future__ import annotations

ABOUT = (
    "DSH (DeepSeek Harness) runs AI agents: somebody asks, a language model answers, and on the way it "
    "calls tools such as a shell or a file reader. This page sums up the records that DSH keeps of this "
    "work. It shows how much was used and how tools fared, and nothing of what was asked or answered."
)

WORDS = {
    "Session": "One conversation with an agent, kept by DSH as one file.",
    "Sub-agent": "An agent that another agent started to delegate a part of its work; a session of its own.",
    "Turn": "Everything from one request to the end of the work on it; it may take many model and tool "
    "calls.",
    "Model call": "One request to a language model; each sends the whole conversation so far, which is why "
    "input grows.",
    "Token": "A piece of text, roughly three quarters of an English word: the unit that models are billed "
    "by.",
    "Input": "Tokens sent to a model that it had to process anew.",
    "Cache read": "Tokens sent to a model whose beginning it had seen just before, so that the provider "
    "kept them ready; they are billed at a fraction of the price.",
    "Cache write": "Tokens that a provider put into its cache for later, where it bills this separately.",
    "Output": "Tokens that a model wrote, its hidden reasoning included.",
    "Cache-read share": "Cache read divided by input, cache read and cache write together; of several days "
    "or sessions it is the ratio of their sums.",
    "Failed attempt": "A model call that was billed, but whose answer was broken off and thrown away before "
    "a retry.",
    "Compaction": "A model call that summarises a long conversation so that it fits; its tokens are counted "
    "too.",
    "Cost": "Tokens times the list price that held at the time of each call; discounts and taxes are not "
    "known here.",
    "Tool call": "One use of a tool by a model, such as a command run in a shell.",
    "Error": "The tool reported a failure to the model; a shell command that ran and exited non-zero is no "
    "error.",
    "Interrupted": "The session was stopped during the call, so its result is not known; counted apart from "
    "errors.",
    "Unanswered": "No result of the call was recorded.",
    "Likely range": "Where the true error rate lies with 95 % confidence (Wilson's interval): few "
    "calls say little, and give a wide range.",
    "Workspace": "The folder that a session works in, by the name that DSH keeps it under: dashes stand for "
    "slashes.",
    "Provider": "The service that runs a model, and bills for it.",
    "Lake": "The folder of tables that dsh-lake makes from the records; a scan reads what is new of them "
    "into it.",
}
