"""TCP proxies that hold up what passes, for times that follow from a seed."""

import asyncio
import random
import threading


class Delays:
    """Proxies between processes: whatever comes waits for a random time before it goes on, in the
    order in which it came; each direction of each connection has times of its own. Most are short
    and a few are long, so that connections overtake one another. Usable from any thread.
    """

    def __init__(self, seed, longest=0.02):
        self._seed = seed
        self._longest = longest
        self._connections = 0
        self._servers = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def proxy(self, listen, target):
        """Whoever connects to `listen` is connected with `target`; (host, port) both.

        Returns: the port that it listens on, where `listen` has port 0.
        """
        begun = asyncio.run_coroutine_threadsafe(self._listen(listen, target), self._loop)
        self._servers.append(begun.result())
        return self._servers[-1].sockets[0].getsockname()[1]

    def close(self):
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _listen(self, listen, target):
        async def serve(reader, writer):
            try:
                there_reader, there_writer = await asyncio.open_connection(*target)
            except OSError:
                writer.close()
                return
            self._connections += 1
            name = f"{self._seed} {self._connections}"
            await asyncio.gather(
                self._pump(reader, there_writer, random.Random(f"{name} there")),
                self._pump(there_reader, writer, random.Random(f"{name} back")),
            )

        return await asyncio.start_server(serve, *listen)

    async def _pump(self, reader, writer, rng):
        try:
            while chunk := await reader.read(1 << 18):
                await asyncio.sleep(self._longest * rng.random() ** 6)
                writer.write(chunk)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    async def _close(self):
        for server in self._servers:
            server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
