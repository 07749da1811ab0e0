"""pgJDBC from Maven Central, kept where it was put first."""
import os
import shutil
import urllib.request

VERSION = "42.7.4"
URL = f"https://repo.maven.apache.org/maven2/org/postgresql/postgresql/{VERSION}/postgresql-{VERSION}.jar"


def driver(cache):
    """The path of the driver's jar in the directory `cache`. Raises OSError when Maven Central does not answer."""
    jar = os.path.join(cache, os.path.basename(URL))
    if not os.path.exists(jar):
        with urllib.request.urlopen(URL, timeout=60) as answer, open(jar + ".part", "wb") as file:
            shutil.copyfileobj(answer, file)
        os.replace(jar + ".part", jar)
    return jar
