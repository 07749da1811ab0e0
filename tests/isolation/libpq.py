"""The little of libpq that the isolation tests need, without a driver: statements that are sent now and awaited later."""
import ctypes
import ctypes.util

_pq = ctypes.CDLL(ctypes.util.find_library("pq") or "libpq.so.5")
for _name, _result, _arguments in [
        ("PQconnectdb", ctypes.c_void_p, [ctypes.c_char_p]),
        ("PQstatus", ctypes.c_int, [ctypes.c_void_p]),
        ("PQerrorMessage", ctypes.c_char_p, [ctypes.c_void_p]),
        ("PQbackendPID", ctypes.c_int, [ctypes.c_void_p]),
        ("PQsocket", ctypes.c_int, [ctypes.c_void_p]),
        ("PQtransactionStatus", ctypes.c_int, [ctypes.c_void_p]),
        ("PQsendQuery", ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]),
        ("PQconsumeInput", ctypes.c_int, [ctypes.c_void_p]),
        ("PQisBusy", ctypes.c_int, [ctypes.c_void_p]),
        ("PQgetResult", ctypes.c_void_p, [ctypes.c_void_p]),
        ("PQresultStatus", ctypes.c_int, [ctypes.c_void_p]),
        ("PQresultErrorField", ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_int]),
        ("PQcmdStatus", ctypes.c_char_p, [ctypes.c_void_p]),
        ("PQntuples", ctypes.c_int, [ctypes.c_void_p]),
        ("PQnfields", ctypes.c_int, [ctypes.c_void_p]),
        ("PQgetvalue", ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]),
        ("PQgetisnull", ctypes.c_int, [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]),
        ("PQclear", None, [ctypes.c_void_p]),
        ("PQfinish", None, [ctypes.c_void_p]),
        ("PQsetNoticeProcessor", ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p])]:
    _function = getattr(_pq, _name)
    _function.restype, _function.argtypes = _result, _arguments

_SILENT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)(lambda _, message: None)


class Connection:
    """One session. send() starts a statement; result() is None until it has ended."""

    def __init__(self, conninfo):
        self.conn = _pq.PQconnectdb(conninfo.encode())
        if _pq.PQstatus(self.conn) != 0:
            raise SystemExit("cannot connect: " + _pq.PQerrorMessage(self.conn).decode())
        _pq.PQsetNoticeProcessor(self.conn, ctypes.cast(_SILENT, ctypes.c_void_p), None)
        self.pid = _pq.PQbackendPID(self.conn)

    def send(self, sql):
        if not _pq.PQsendQuery(self.conn, sql.encode()):
            raise SystemExit("cannot send: " + _pq.PQerrorMessage(self.conn).decode())

    def result(self):
        """Lines that tell what the statement gave: rows, tag, error."""
        if not _pq.PQconsumeInput(self.conn):
            raise SystemExit("connection lost: " + _pq.PQerrorMessage(self.conn).decode())
        if _pq.PQisBusy(self.conn):
            return None
        lines = []
        while True:
            res = _pq.PQgetResult(self.conn)
            if not res:
                return lines
            status = _pq.PQresultStatus(res)
            if status == 7:  # PGRES_FATAL_ERROR
                state = (_pq.PQresultErrorField(res, ord("C")) or b"?????").decode()
                lines.append(f"ERROR {state}: " + (_pq.PQresultErrorField(res, ord("M")) or b"").decode())
            elif status == 2:  # PGRES_TUPLES_OK
                for row in range(_pq.PQntuples(res)):
                    lines.append("|".join("NULL" if _pq.PQgetisnull(res, row, col) else _pq.PQgetvalue(res, row, col).decode()
                                          for col in range(_pq.PQnfields(res))))
                lines.append(f"({_pq.PQntuples(res)} rows)")
            else:
                lines.append(_pq.PQcmdStatus(res).decode())
            _pq.PQclear(res)

    def run(self, sql):
        self.send(sql)
        while (lines := self.result()) is None:
            pass
        return lines

    def socket(self):
        return _pq.PQsocket(self.conn)

    def in_transaction(self):
        return _pq.PQtransactionStatus(self.conn) != 0

    def close(self):
        _pq.PQfinish(self.conn)
